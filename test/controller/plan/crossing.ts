import type { CoveredPods } from '../../../runtime/api/shadow/displaced.ts';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import {
  fleet,
  MARKS,
  minutes,
  moment,
  node,
  NOW,
  type Parts,
  permit,
  plan,
  POLICY,
  UNPROVEN_TOO,
  type World,
} from './fleet.ts';

/** Drains of ours that wait for budgets. */

/** A drain of ours that makes no progress. */
export interface Blocked {
  /** Budgets that its pods wait for, and of which it has evicted pods. */
  readonly waits?: readonly string[];
  readonly holds?: readonly string[];
  /** Budgets of pods that are all there still. */
  readonly covers?: readonly string[];
  /** When its permit was given, and since when it makes no progress, in minutes. */
  readonly since?: number;
  readonly stalled?: number;
  readonly node?: Partial<NodeView>;
  readonly status?: Parts['status'];
}

export const evicted = (name: string): CoveredPods => ({ name: `shop/${name}`, pods: 1, left: [] });
const staying = (name: string): CoveredPods => ({ name: `shop/${name}`, pods: 1, left: ['uid'] });
export const PROBE = { boot_id: 'boot-1', version: '1.1.0', requested_at: null };

function draining({ waits = [], holds = [], covers = [], stalled = -6, status }: Blocked): Parts {
  const drain = {
    started_at: moment(-9),
    pods_left: 3,
    blocked_by: waits.map((name) => `PodDisruptionBudget shop/${name} (pod shop/${name}-0)`),
    reported_at: moment(0),
  };
  const budgets = [...holds.map(evicted), ...covers.map(staying)];
  return {
    spec: { state: 'RebootedIntoUpdate', version: '1.1.0', state_transition_timestamp: moment(-10) },
    status: {
      current_state: 'StagedAndPerformedUpdate',
      reboot: PROBE,
      drain,
      displaced: { owners: [], looked_at: null, missing: [], budgets },
      ...status,
    },
    stalledSince: minutes(stalled),
  };
}

export const cordoned = (name: string, more: Partial<NodeView> = {}): NodeView =>
  node(name, { unschedulable: true, marks: MARKS, ...more });

export function drains(said: Readonly<Record<string, Blocked>>, more: Partial<World> = {}): World {
  const parts = Object.entries(said);
  return fleet(Object.fromEntries(parts.map(([name, one]) => [name, draining(one)])), {
    nodes: parts.map(([name, one]) => cordoned(name, one.node)),
    permits: parts.map(([name, { since = -20 }]) => permitSince(name, minutes(since))),
    ...more,
  });
}

export const permitSince = (name: string, since: number | undefined): World['permits'][number] => ({
  ...permit(name),
  since,
});

/** The world with more said of one shadow. */
export function told({ shadows, ...world }: World, name: string, more: Partial<World['shadows'][number]>): World {
  return { ...world, shadows: shadows.map((one) => (one.name === `brs-${name}` ? Object.assign({}, one, more) : one)) };
}

const RULES = { ...POLICY, ...UNPROVEN_TOO, maxConcurrent: { kind: 'unlimited' } } as const;
export const planned = (world: World, rules: Partial<typeof POLICY> = {}) => plan(world, { ...RULES, ...rules }, NOW);
/** Who is called off. */
export const off = (world: World, rules: Partial<typeof POLICY> = {}): readonly string[] =>
  planned(world, rules).commands.flatMap((command) => (command.kind === 'call-off' ? [command.node] : []));
