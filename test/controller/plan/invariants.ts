import { concurrency, failureBudget } from '../../../runtime/api/policy/quantity.ts';
import type { Command } from '../../../runtime/controller/plan/facts/commands.ts';
import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import type { ShadowView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { type Rules, type World } from './fleet.ts';

/** A plan with what it was made of. */
export interface Made {
  readonly snapshot: World;
  readonly policy: Rules;
  readonly now: number;
  readonly plan: Plan;
}

/** Every invariant that the plan breaks, in words. Of a fleet of one kind, all of it managed, Ready and with agents. */
export function broken(made: Made): readonly string[] {
  const facts = factsOf(made);
  return INVARIANTS.filter(([, holds]) => !holds(facts)).map(([says]) => says);
}

interface Facts extends Made {
  readonly starts: readonly ShadowView[];
  readonly shadows: ReadonlyMap<string, ShadowView>;
  /** UIDs of the nodes that take a place once the plan has been carried out. */
  readonly busy: ReadonlySet<string>;
  readonly permitted: ReadonlySet<string>;
  readonly capacity: number;
}

function factsOf(made: Made): Facts {
  const { snapshot, policy, plan } = made;
  const shadows = new Map(snapshot.shadows.map((one) => [one.name, one]));
  const started = plan.commands.flatMap((command) => (command.kind === 'start' ? [command] : []));
  const permitted = new Set(snapshot.permits.map(({ nodeUid }) => nodeUid));
  const busy = new Set([...permitted, ...started.map(({ nodeUid }) => nodeUid)]);
  const starts = started.map(({ shadow }) => shadows.get(shadow)!);
  return {
    ...made,
    starts,
    shadows,
    busy,
    permitted,
    capacity: concurrency(policy.maxConcurrent, snapshot.nodes.length),
  };
}

const INVARIANTS: readonly (readonly [says: string, holds: (facts: Facts) => boolean])[] = [
  [
    'every node that is being updated has a permit',
    ({ snapshot, permitted }) =>
      snapshot.shadows.every((one) => !isMoving(one) || one.owners.some((uid) => permitted.has(uid))),
  ],
  ['no more nodes are updated at once than the policy says', ({ busy, capacity }) => busy.size <= capacity],
  [
    'nobody waits while a place is free',
    ({ plan, busy, capacity }) =>
      busy.size >= capacity || !plan.verdicts.some(({ position }) => position !== undefined),
  ],
  [
    'there is one verdict for each node',
    ({ plan, snapshot }) =>
      new Set(plan.verdicts.map(({ node }) => node)).size === snapshot.nodes.length &&
      plan.verdicts.length === snapshot.nodes.length,
  ],
  ['nothing starts outside the window', ({ starts, snapshot }) => starts.length === 0 || snapshot.window.open],
  ['nothing starts before its pause is over', ({ starts, now }) => starts.every((one) => now > pauseEnd(one))],
  ['nothing starts that is not at rest', ({ starts }) => starts.every((one) => !isMoving(one))],
  ['a release that nobody has proven reaches no more nodes than may fail', isProvenFirst],
  ['no node comes to rest before it was Ready for long enough', isSoaked],
  ['the own node starts when nobody else waits', isOwnLast],
  [
    'no shadow is written twice',
    ({ plan }) => isUnique(plan.commands.filter(({ kind }) => kind !== 'free').map(nameOf)),
  ],
  [
    'no more conditions are asked for than can be written',
    ({ plan, policy }) => plan.commands.filter(({ kind }) => kind === 'set-condition').length <= policy.conditionWrites,
  ],
  ['the next look lies ahead', ({ plan, now }) => plan.requeueAt === undefined || plan.requeueAt > now],
];

function isMoving({ spec, status }: ShadowView): boolean {
  return spec.state !== 'Idle' || status?.current_state !== 'Idle';
}

function pauseEnd({ status }: ShadowView): number {
  if (!status || status.crash_count === 0) return -Infinity;
  return Date.parse(status.state_transition_failure_timestamp ?? '') + Math.min(2 ** status.crash_count, 1440) * 60_000;
}

function isProvenFirst({ snapshot, policy, starts }: Facts): boolean {
  const proven = snapshot.shadows.some((one) => !isMoving(one) && one.status?.current_version === '1.1.0');
  const reached =
    snapshot.shadows.filter((one) => isMoving(one) && one.spec.version === '1.1.0').length + starts.length;
  return proven || reached <= failureBudget(policy.maxFailed, snapshot.nodes.length);
}

function isSoaked({ plan, shadows, policy, now }: Facts): boolean {
  return plan.commands.every((command) => {
    if (command.kind !== 'set-spec' || command.spec.state !== 'Idle') return true;
    const { spec, status } = shadows.get(command.shadow)!;
    if (status?.current_state !== 'MonitoringUpdate') return true;
    return now - Date.parse(spec.state_transition_timestamp ?? '') >= policy.soakMs;
  });
}

function isOwnLast({ plan, policy, starts }: Facts): boolean {
  const isOwn = starts.some(({ owners }) => owners.includes(`uid-${policy.ownNode}`));
  return !isOwn || !plan.verdicts.some(({ position }) => position !== undefined);
}

const nameOf = (command: Command): string => ('shadow' in command ? command.shadow : `node ${command.node}`);
const isUnique = (names: readonly string[]): boolean => new Set(names).size === names.length;
