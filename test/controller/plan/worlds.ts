import { ARRIVING_KEY } from '../../../runtime/api/marks/taints.ts';
import * as fc from 'fast-check';
import type { Quantity } from '../../../runtime/api/policy/quantity.ts';
import type { Command } from '../../../runtime/controller/plan/facts/commands.ts';
import type { NodeView, ShadowView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import type { Taking } from '../../../runtime/controller/permits/entries.ts';
import { instantOf } from '../../../runtime/lib/clock.ts';
import { nodeNameOf, shadowName } from '../../../runtime/api/shadow/names.ts';
import { MARKS, minutes, NO_RELEASES, NOW, POLICY, type Rules, permit, type World } from './fleet.ts';
import { ago, member, rarely } from './members.ts';

export const amount: fc.Arbitrary<Quantity> = fc.oneof(
  fc.integer({ min: 1, max: 4 }).map((count) => ({ kind: 'count', count }) as const),
  fc.integer({ min: 1, max: 100 }).map((percent) => ({ kind: 'percent', percent }) as const),
  fc.constant({ kind: 'unlimited' } as const),
);

export const policy: fc.Arbitrary<Rules> = fc
  .record({
    maxConcurrent: amount,
    maxFailed: amount,
    ownNode: fc.constantFrom('n0', 'none'),
    soakMs: fc.constantFrom(0, 300_000),
    soakTimeoutMs: fc.constant(900_000),
    agentTimeoutMs: fc.constant(900_000),
    returnTimeoutMs: fc.constant(900_000),
    drainTimeoutMs: fc.constantFrom(0, 1_800_000),
    notReadyHoldMs: fc.constantFrom(0, 3_600_000),
    checkFailedAfterMs: fc.constant(3_600_000),
    mustFit: fc.boolean(),
    labelNodes: fc.boolean(),
    arrivingTaint: fc.constant(ARRIVING_KEY),
    excludesFromLb: fc.boolean(),
    conditionWrites: fc.constantFrom(0, 2, 600),
  })
  .map((drawn) => Object.assign({}, POLICY, drawn));

export const windows = fc.oneof(
  fc.constant({ open: true, triggeredAt: undefined, changesAt: undefined }),
  ago.map((left) => ({ open: true, triggeredAt: undefined, changesAt: minutes(left + 1) })),
  fc.record({ past: fc.option(ago, { nil: undefined }), left: ago }).map(({ past, left }) => ({
    open: false,
    triggeredAt: past === undefined ? undefined : minutes(-past),
    changesAt: minutes(left + 1),
  })),
);

const KINDS = [
  'start',
  'set-spec',
  'bump',
  'free',
  'release',
  'rescue',
  'disown',
  'adopt',
  'forget',
  'delete-shadow',
  'call-off',
  'set-condition',
] as const;

/** Commands that the API server has not taken: some are withheld, some may be asked for again. */
const refused: fc.Arbitrary<World['refusals']> = fc
  .uniqueArray(
    fc.record({
      shadow: fc.integer({ min: 0, max: 6 }).map((index) => shadowName(`n${index}`)),
      kind: fc.constantFrom(...KINDS),
      retryAt: fc.integer({ min: -5, max: 5 }).map(minutes),
    }),
    { maxLength: 3, selector: ({ shadow: name }) => name },
  )
  .map((refusals) => new Map(refusals.map(({ shadow: name, ...one }) => [name, [{ ...one, message: 'is refused' }]])));

export const world: fc.Arbitrary<World> = fc
  .record({
    members: fc
      .integer({ min: 1, max: 7 })
      .chain((count) => fc.tuple(...Array.from({ length: count }, (_, index) => member(`n${index}`)))),
    paused: rarely,
    refusals: fc.oneof({ weight: 4, arbitrary: fc.constant(new Map()) }, refused),
    window: windows,
    ghost: rarely,
    old: rarely,
  })
  .map(({ members, paused, refusals, window, ghost, old }) => ({
    nodes: members.map((one) => one.node),
    shadows: members.flatMap((one) => one.shadow ?? []),
    permits: [...members.flatMap((one) => one.permit ?? []), ...(ghost ? [permit('ghost')] : [])],
    silentSince: new Map(
      members.flatMap((one) => (one.silentSince === undefined ? [] : [[one.node.name, one.silentSince] as const])),
    ),
    ruledSince: new Map(
      members.flatMap((one) => (one.ruledSince === undefined ? [] : [[one.node.uid, one.ruledSince] as const])),
    ),
    paused,
    refusals,
    drainRefusals: new Map(
      members.flatMap(({ shadow: one, drainRefusal }) =>
        one && drainRefusal ? [[one.name, drainRefusal] as const] : [],
      ),
    ),
    window,
    policies: [],
    releases: NO_RELEASES,
    notCurrent: old ? 'nothing is heard of the nodes' : undefined,
  }));

/** The world once every command has been carried out and seen, at `now`. */
export function after(snapshot: World, commands: readonly Command[], now = NOW): World {
  const draft: Draft = {
    nodes: new Map(snapshot.nodes.map((one) => [one.name, one])),
    shadows: new Map(snapshot.shadows.map((one) => [one.name, one])),
    permits: new Map(snapshot.permits.map((one) => [one.shadow, one])),
  };
  for (const command of commands) apply(draft, command);
  const before = new Map(snapshot.shadows.map((one) => [one.name, one]));
  return {
    ...snapshot,
    nodes: [...draft.nodes.values()],
    shadows: [...draft.shadows.values()].map((one) => seen(before.get(one.name), one, now)),
    permits: [...draft.permits.values()],
  };
}

/** A shadow that has become another, as it is seen then. */
export function seen(before: ShadowView | undefined, one: ShadowView, now: number): ShadowView {
  const isSameStep = before?.spec.state === one.spec.state;
  const isSame = isSameStep && before.status?.current_state === one.status?.current_state;
  const failedAt = instantOf(one.status?.state_transition_failure_timestamp);
  return isSame
    ? one
    : { ...one, stateSeenAt: now, stepBeganAt: isSameStep ? one.stepBeganAt : now, failedAt, rebootAskedAt: undefined };
}

/** What commands act on, by name; permits by the name of their shadow. */
interface Draft {
  readonly nodes: Map<string, NodeView>;
  readonly shadows: Map<string, ShadowView>;
  readonly permits: Map<string, World['permits'][number]>;
}

type Effects = {
  readonly [K in Command['kind']]: (draft: Draft, command: Extract<Command, { kind: K }>) => void;
};

const EFFECTS: Effects = {
  'set-spec': (draft, { shadow: name, spec }) => change(draft.shadows, name, (one) => ({ ...one, spec })),
  'call-off': (draft, { shadow: name, spec }) => change(draft.shadows, name, (one) => ({ ...one, spec })),
  start(draft, command) {
    change(draft.shadows, command.shadow, (one) => ({ ...one, spec: command.spec, hint: undefined }));
    take(draft, command);
  },
  bump: take,
  'note-reboot': (draft, { shadow: name, rebootAskedAt }) =>
    change(draft.permits, name, (one) => ({ ...one, rebootAskedAt })),
  'note-end': (draft, { shadow: name, ended }) => change(draft.permits, name, (one) => ({ ...one, ended })),
  free: (draft, { shadow: name }) => draft.permits.delete(name),
  release: (draft, { node: name }) => change(draft.nodes, name, (one) => ({ ...one, marks: undefined })),
  disown: (draft, { node: name }) => change(draft.nodes, name, (one) => ({ ...one, marks: { ...MARKS, owns: [] } })),
  adopt: (draft, { node: name }) => change(draft.nodes, name, (one) => ({ ...one, joinable: false })),
  forget: (draft, { node: name }) =>
    change(draft.nodes, name, (one) => ({ ...one, askedBy: undefined, retryOf: undefined })),
  'delete-shadow': (draft, { shadow: name }) => draft.shadows.delete(name),
  'set-hint': (draft, { shadow: name, version }) =>
    change(draft.shadows, name, (one) => ({ ...one, hint: version === null ? undefined : { version, since: NOW } })),
  'set-wish': (draft, { shadow: name, wish }) =>
    change(draft.shadows, name, (one) => ({ ...one, spec: { ...one.spec, version_wish: wish } })),
  'set-condition': (draft, { shadow: name, conditions }) =>
    change(draft.shadows, name, (one) =>
      one.status ? { ...one, status: { ...one.status, conditions: [...conditions] } } : one,
    ),
  rescue(draft, { node: nodeName, shadow: name }) {
    const bootId = draft.nodes.get(nodeName)?.bootId;
    change(draft.nodes, nodeName, (one) => ({ ...one, marks: undefined }));
    change(draft.shadows, name, (one): ShadowView => {
      const { reboot } = one.status ?? {};
      const rebooted = reboot?.requested_at != null && reboot.boot_id !== bootId;
      return rebooted ? one : { ...one, spec: { ...one.spec, state: 'Idle' } };
    });
  },
};

function apply<K extends Command['kind']>(draft: Draft, command: Extract<Command, { kind: K }>): void {
  EFFECTS[command.kind](draft, command);
}

function change<T>(items: Map<string, T>, name: string, how: (one: T) => T): void {
  const one = items.get(name);
  if (one !== undefined) items.set(name, how(one));
}

function take({ permits }: Draft, { shadow, nodeUid, ...terms }: Taking): void {
  const { family, version, zone } = terms;
  const given = { shadow, nodeUid, family, version, policy: terms.policy, zone };
  permits.set(shadow, { ...given, id: `attempt-${shadow}`, since: NOW, writes: 'settled' });
}

/**
 * Nodes that certainly take a place: those with a permit or marks, and those whose update an agent is at work on. One that was called off before
 * it was disturbed takes none.
 */
export function certainlyBusy(snapshot: World): Set<string> {
  const active = snapshot.shadows.filter(
    ({ name, spec, status }) =>
      status &&
      (status.current_state !== 'Idle' || spec.state !== 'Idle') &&
      !(spec.state === 'Idle' && status.current_state === 'StagedAndPerformedUpdate') &&
      !snapshot.silentSince.has(nodeNameOf(name) ?? ''),
  );
  return new Set([
    ...snapshot.permits.map(({ nodeUid }) => nodeUid),
    ...snapshot.nodes.filter(({ marks }) => marks).map(({ uid }) => uid),
    ...active.flatMap(({ owners }) => owners),
  ]);
}
