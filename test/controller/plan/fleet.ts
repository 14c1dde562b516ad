import { isDeepStrictEqual } from 'node:util';
import { type Plan, plan as planOf } from '../../../runtime/controller/plan/plan.ts';
import type { PolicyView, ValidPolicy, WindowState } from '../../../runtime/controller/plan/facts/policies.ts';
import type {
  NodeView,
  ReleaseView,
  Settings,
  ShadowView,
  Snapshot,
} from '../../../runtime/controller/plan/facts/snapshot.ts';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import { phaseOf } from '../../../runtime/controller/plan/facts/phase.ts';
import { instantOf, rfc3339 } from '../../../runtime/lib/clock.ts';
import { ARRIVING_KEY } from '../../../runtime/api/marks/taints.ts';
import type { Marks } from '../../../runtime/api/marks/marks.ts';
import { EMPTY } from '../../../runtime/api/release/ledger.ts';
import { releaseObjectName } from '../../../runtime/api/release/names.ts';
import { shadowName } from '../../../runtime/api/shadow/names.ts';
import { VARIABLES } from '../../api/policy/policies.ts';

/** Builders of what a plan is made on. All times are minutes before or after this moment. */
export const NOW = Date.parse('2026-01-10T12:00:00Z');
export const minutes = (count: number): number => NOW + count * 60_000;
export const moment = (count: number): string => rfc3339(minutes(count));

/** What the variables say: the settings of the controller, and the policy that rules what no other does. */
export type Rules = Settings & UpdatePolicy;

/** A snapshot whose policies are those of resources. The one of the variables comes of `Rules` and of `window`. */
export interface World extends Snapshot {
  readonly window: WindowState;
  readonly longestWindowMs?: number;
}

export const OPEN: WindowState = { open: true, triggeredAt: undefined, changesAt: undefined };

/** The world with the policy of the variables among the others. */
export function underRules({ window, longestWindowMs, ...world }: World, rules: Rules): Snapshot {
  const variables: ValidPolicy = { kind: 'valid', policy: rules, window, longestWindowMs, resource: undefined };
  return { ...world, releases: kept(world), policies: [...world.policies, variables] };
}

export const NO_RELEASES: Snapshot['releases'] = { objects: [], refused: new Map(), seeds: true };

/** The releases of the world, with a ledger for each that a node runs, is offered or heads for. */
function kept({ releases, nodes, shadows }: Snapshot): Snapshot['releases'] {
  const families = new Map(nodes.map(({ shadowName: name, family }) => [name, family]));
  const known = new Map(releases.objects.map((one) => [one.name, one]));
  for (const { name: of, spec, status } of shadows) {
    for (const version of [spec.version, status?.current_version, status?.target_version]) {
      const family = families.get(of);
      if (version != null && family !== undefined) {
        const one = ledgerObject({ family, version });
        if (!known.has(one.name)) known.set(one.name, one);
      }
    }
  }
  return { ...releases, objects: [...known.values()] };
}

/** The object of a release with nothing in its ledger yet. */
export function ledgerObject(of: Pick<ReleaseView, 'family' | 'version'>, ledger = EMPTY): ReleaseView {
  const name = releaseObjectName(of);
  return { ...of, name, uid: name, resourceVersion: '1', decision: 'Automatic', ledger };
}

/** The plan once the ends that the world shows are entered: what is to rest waits for that. */
export function plan(world: World, rules: Rules, now: number): Plan {
  return planOf(underRules(entered(world, rules, now), rules), rules, { now });
}

/** The world once its ledgers bear what the plan enters into them at `now`. */
export function entered(world: World, rules: Rules, now: number): World {
  const written = planOf(underRules(world, rules), rules, { now })
    .ledger.filter(({ seen, ledger }) => !isDeepStrictEqual(seen?.ledger.failures, ledger?.failures))
    .flatMap(({ family, version, ledger }) => (ledger ? ledgerObject({ family, version }, ledger) : []));
  if (written.length === 0) return world;
  const names = new Set(written.map(({ name }) => name));
  const objects = [...world.releases.objects.filter(({ name }) => !names.has(name)), ...written];
  return { ...world, releases: { ...world.releases, objects } };
}

/** As the variables are by default. */
export const POLICY: Rules = {
  ...VARIABLES,
  ownNode: 'none',
  soakTimeoutMs: 900_000,
  agentTimeoutMs: 900_000,
  returnTimeoutMs: 900_000,
  drainTimeoutMs: 1_800_000,
  notReadyHoldMs: 3_600_000,
  maxUnhealthy: { kind: 'percent', percent: 10 },
  readAhead: undefined,
  checkFailedAfterMs: 3_600_000,
  labelNodes: false,
  arrivingTaint: ARRIVING_KEY,
  excludesFromLb: false,
  conditionWrites: 0,
};

/** Every node proves a release, so that nobody waits for others to do it. */
export const UNPROVEN_TOO = {
  maxFailed: { kind: 'unlimited' },
  proof: { nodes: { kind: 'percent', percent: 100 }, soakMs: 0 },
} as const satisfies Partial<Rules>;

export const MARKS: Marks = { id: 'm', since: moment(-5), boot: 'boot-1', owns: ['cordon'] };

/** The drain is over: a reboot is asked for next. */
export const DRAINED: Marks = { ...MARKS, drained: moment(-4) };

export function node(name: string, more: Partial<NodeView> = {}): NodeView {
  return {
    name,
    uid: `uid-${name}`,
    shadowName: shadowName(name),
    labels: {},
    createdAt: minutes(-20_000),
    managed: true,
    joinable: false,
    held: false,
    unschedulable: false,
    ready: true,
    readyChangedAt: minutes(-10_000),
    readinessSeenAt: more.readyChangedAt ?? minutes(-10_000),
    readyFrom: more.readyChangedAt ?? minutes(-10_000),
    family: 'aws-k8s-1.33/amd64',
    version: undefined,
    bootId: 'boot-1',
    marks: undefined,
    ...more,
  };
}

export type Parts = Omit<Partial<ShadowView>, 'spec' | 'status'> & {
  readonly spec?: Partial<ShadowView['spec']>;
  readonly status?: Partial<NonNullable<ShadowView['status']>> | null;
};

const NOT_KNOWN = {
  rebootAskedAt: undefined,
  finishedAt: undefined,
  upToDateSince: undefined,
  endedAt: undefined,
  lastUpdateMs: undefined,
  hint: undefined,
  updatedFrom: undefined,
} as const satisfies Partial<ShadowView>;

const asSaid = ({ state_transition_failure_timestamp: failed, preflight, check }: NonNullable<Parts['status']>) => ({
  failedAt: instantOf(failed),
  lookedAt: instantOf(preflight?.looked_at),
  cannotLookSince: instantOf(check?.failing_since),
});

/** At rest on 1.0.0 with 1.1.0 on offer, unless told otherwise. Times that it states were seen as they came to be. */
export function shadow(nodeName: string, { spec, status, ...more }: Parts = {}): ShadowView {
  const beganAt = instantOf(spec?.state_transition_timestamp) ?? NOW;
  return {
    name: shadowName(nodeName),
    uid: `shadow-${nodeName}`,
    resourceVersion: '100',
    owners: [`uid-${nodeName}`],
    spec: { state: 'Idle', ...spec },
    status:
      status === null
        ? undefined
        : { current_version: '1.0.0', target_version: '1.1.0', current_state: 'Idle', crash_count: 0, ...status },
    ...NOT_KNOWN,
    stale: false,
    stateSeenAt: beganAt,
    stepBeganAt: Math.min(beganAt, more.stateSeenAt ?? NOW),
    ...asSaid(status ?? {}),
    offeredAt: minutes(-60),
    ...more,
  };
}

export function snapshot(more: Partial<World> = {}): World {
  return {
    nodes: [],
    shadows: [],
    permits: [],
    silentSince: new Map(),
    paused: false,
    window: OPEN,
    policies: [],
    releases: NO_RELEASES,
    notCurrent: undefined,
    refusals: new Map(),
    drainRefusals: new Map(),
    ...more,
  };
}

/** The policy of a resource that says this, and else what the variables do by default. */
export function ruling(
  name: string,
  { window = OPEN, ...says }: Partial<UpdatePolicy> & { window?: WindowState },
): PolicyView {
  const policy = { ...POLICY, priority: 0, ...says, name };
  return {
    kind: 'valid',
    policy,
    window,
    resource: { uid: `policy-${name}`, resourceVersion: '1', generation: 1, status: undefined },
  };
}

/** A snapshot of nodes with a shadow each. */
export function fleet(shadows: Readonly<Record<string, Parts>>, more: Partial<World> = {}): World {
  const names = Object.keys(shadows);
  const { nodes = names.map((name) => node(name)) } = more;
  const byShadow = new Map(nodes.map((one) => [one.shadowName, one]));
  return snapshot({
    shadows: names.map((name) => {
      const one = shadow(name, shadows[name]);
      const on = byShadow.get(one.name);
      return on ? asked(one, on, instantOf(one.status?.reboot?.requested_at) ?? on.readinessSeenAt) : one;
    }),
    ...more,
    nodes,
  });
}

/** The shadow with when it was seen that a reboot of the node was asked for, where it was. */
export function asked(one: ShadowView, on: NodeView, at: number): ShadowView {
  return phaseOf(one, on).kind === 'rebooting' ? { ...one, rebootAskedAt: at } : one;
}

export const permit = (
  name: string,
  writes: 'settled' | 'unknown' | 'gone' = 'settled',
): Snapshot['permits'][number] => ({
  shadow: shadowName(name),
  nodeUid: `uid-${name}`,
  id: `attempt-${name}`,
  since: minutes(-7),
  writes,
});

/** Parts of a shadow in the middle of an update to 1.1.0. */
export const staging: Parts = { spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' } };
export const rebooting: Parts = {
  spec: { state: 'RebootedIntoUpdate', version: '1.1.0' },
  status: { current_state: 'StagedAndPerformedUpdate' },
};
export const monitoring = (since = -1): Parts => ({
  spec: { state: 'MonitoringUpdate', version: '1.1.0', state_transition_timestamp: moment(since) },
  status: { current_state: 'MonitoringUpdate', current_version: '1.1.0' },
});
export const updated: Parts = { status: { current_version: '1.1.0' } };

/** The nodes that a plan starts. */
export const started = (world: World, rules: Partial<Rules> = {}): readonly string[] =>
  plan(world, { ...POLICY, ...rules }, NOW).commands.flatMap((command) =>
    command.kind === 'start' ? [command.node] : [],
  );

/** What a plan says of each node. */
export const reasons = (world: World, rules: Partial<Rules> = {}): Record<string, string> =>
  Object.fromEntries(
    plan(world, { ...POLICY, ...rules }, NOW).verdicts.map(({ node: name, reason }) => [name, reason]),
  );
