import type { HostTimes } from '../../sim/hosts/times.ts';

/** What every host takes for its part, milliseconds. */
export const TIMES: HostTimes = {
  refreshMs: 2000,
  prepareMs: 20_000,
  rebootMs: 30_000,
  shutdownMs: 5000,
  spread: 0,
};

/** One node's update, for its host: a refresh, the image, its activation and the reboot. */
const HOST_WORK_MS = 2 * TIMES.refreshMs + TIMES.prepareMs + TIMES.rebootMs;

export interface Scenario {
  readonly name: string;
  readonly nodes: number;
  /** Of the nodes, that may be updating at once. */
  readonly places: number;
  /** That the nodes are in, in equal parts. */
  readonly zones: number;
  /** What every host takes. @default TIMES */
  readonly times?: HostTimes;
  /** Spec of a policy for all nodes. @default the controller's variables rule */
  readonly policy?: object;
}

export const SCENARIOS: readonly Scenario[] = [
  { name: '3 in turn', nodes: 3, places: 1, zones: 1 },
  { name: '30 by 10 with the canary', nodes: 30, places: 10, zones: 1 },
  {
    name: '30 by 10 with the canary, one of two zones at a time',
    nodes: 30,
    places: 10,
    zones: 2,
    policy: { nodeSelector: {}, zones: { atOnce: 1 } },
  },
];

const SOON: HostTimes = { ...TIMES, prepareMs: 2000, rebootMs: 8000, shutdownMs: 2000 };

/** Ten nodes, two at a time, with twenty pods, where the nodes that are done have room for all of them. */
const TWO_OF_TEN: Omit<Scenario, 'name'> = { nodes: 10, places: 2, zones: 1, times: SOON };

/** By how far each pod is moved. */
export const MOVES: readonly Scenario[] = [
  { ...TWO_OF_TEN, name: '10 by 2', policy: { nodeSelector: {} } },
  { ...TWO_OF_TEN, name: '10 by 2, preferUpdated', policy: { nodeSelector: {}, preferUpdated: true } },
];

const THIRTY_BY_TEN: Omit<Scenario, 'name'> = { nodes: 30, places: 10, zones: 1 };

/** The same rollout with and without a wait for what drains have displaced, and with few nodes first, then more. Four prove the release in both. */
export const GENTLE: readonly [on: Scenario, off: Scenario] = [
  {
    ...THIRTY_BY_TEN,
    name: '30 by 10, settle and widen',
    policy: { nodeSelector: {}, settle: '5m', proof: { nodes: 4, widen: 2 } },
  },
  {
    ...THIRTY_BY_TEN,
    name: '30 by 10, neither',
    policy: { nodeSelector: {}, settle: '0s', proof: { nodes: 4 } },
  },
];

/** Hosts' work, one node after the other at each place, in the time that the rollout took: more than 1 where nodes prepare while others boot. */
export function efficiency({ nodes, places }: Scenario, wallMs: number): number {
  return (HOST_WORK_MS * nodes) / places / wallMs;
}
