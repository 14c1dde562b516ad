import type { Random } from '../../runtime/lib/random.ts';
import { chance, oneOf } from './environment/chance.ts';
import { between } from './faults/kind.ts';
import { HOUR, MINUTE } from './units.ts';
import { BEGINS_AT, type Instant, type PolicyWorld } from './types.ts';
import type { Topic } from './plots.ts';
import { drawVersionTerms } from './versions.ts';

/** Spec of a policy resource, as somebody writes it. */
export type PolicySpec = Readonly<Record<string, unknown>>;

/** Labels by which policies of these worlds select, and zones are told apart. */
export const POOL = 'example.com/pool';
export const ZONE = 'topology.kubernetes.io/zone';
export const POOLS = ['test', 'production'] as const;
export const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;

/** The labels by which policies select a machine's Node; what replaces a machine has the same. Some nodes have none of them. */
export function groupLabels(seed: number, node: string): Readonly<Record<string, string>> {
  const random = chance(seed, `environment/groups/${node}`);
  return {
    ...(random() < 0.9 && { [ZONE]: oneOf(random, ZONES) }),
    ...(random() < 0.85 && { [POOL]: oneOf(random, POOLS) }),
  };
}

const pool = (name: string): PolicySpec => ({ nodeSelector: { matchLabels: { [POOL]: name } } });
const EVERY_NODE: PolicySpec = { nodeSelector: {} };

/** In which groups the nodes are, by name of the policy; the terms of each are drawn besides. */
const LAYOUTS: readonly Readonly<Record<string, PolicySpec>>[] = [
  { all: EVERY_NODE },
  { all: { ...EVERY_NODE, zones: { atOnce: 1 } } },
  { test: pool('test'), production: { ...pool('production'), after: ['test'] } },
  { test: pool('test'), production: { ...pool('production'), after: ['test'], zones: { atOnce: 1 } } },
  { all: EVERY_NODE, production: { ...pool('production'), priority: 10 } },
  {
    'zone-a': { nodeSelector: { matchExpressions: [{ key: ZONE, operator: 'In', values: ['zone-a'] }] } },
    others: {
      nodeSelector: { matchExpressions: [{ key: ZONE, operator: 'NotIn', values: ['zone-a'] }] },
      after: ['zone-a'],
    },
  },
  {
    pooled: { nodeSelector: { matchExpressions: [{ key: POOL, operator: 'Exists' }] }, priority: -5 },
    test: { ...pool('test'), after: [] },
    stray: { nodeSelector: { matchExpressions: [{ key: POOL, operator: 'DoesNotExist' }] }, after: ['pooled'] },
  },
];

/** Such as need a person, for good. */
const STUCK: readonly Readonly<Record<string, PolicySpec>>[] = [
  { all: { ...EVERY_NODE, paused: true }, production: { ...pool('production'), priority: 1 } },
  { first: EVERY_NODE, second: pool('production') },
  { test: { ...pool('test'), after: ['production'] }, production: { ...pool('production'), after: ['test'] } },
  { all: { ...EVERY_NODE, after: ['stray'] }, stray: { ...pool('test'), after: ['all'], priority: 1 } },
  { test: pool('test'), production: { ...pool('production'), after: ['nobody'] } },
];

/** About half of the worlds have policies; some have not even the kind, or get it later. */
export function drawPolicies(random: Random, stormMs: number, topic?: Topic): PolicyWorld {
  const dice = random();
  if (dice < 0.1) return { definedAt: undefined, policies: {} };
  if (dice < 0.45) return { definedAt: 0, policies: {} };
  const layout = oneOf(random, random() < 0.2 ? STUCK : LAYOUTS);
  const policies = Object.entries(layout).map(
    ([name, spec]) => [name, { ...spec, ...drawTerms(random, stormMs, topic) }] as const,
  );
  const definedAt = random() < 0.8 ? 0 : Math.round(random() * 0.4 * stormMs);
  return { definedAt, policies: Object.fromEntries(policies) };
}

/** What a policy may say besides whom it selects, and after whom it comes; most of it stays unsaid. None of its windows is closed for longer than two hours. */
export function drawTerms(random: Random, stormMs: number, topic?: Topic): PolicySpec {
  const maybe = (share: number, name: string, values: readonly unknown[]): PolicySpec =>
    random() < share ? { [name]: oneOf(random, values) } : {};
  const terms = {
    ...maybe(0.6, 'maxConcurrent', [1, 1, 2, 3, '50%', 'unlimited', null]),
    ...maybe(0.5, 'maxFailed', [1, 2, 3, '50%', 'unlimited', null]),
    ...maybe(0.3, 'pauseBetween', ['0s', '1m', '5m', '1h', '10m30s', null]),
    ...maybe(0.2, 'zones', [{ atOnce: 1 }, { key: ZONE, atOnce: 2 }, { key: POOL, atOnce: 1 }, { atOnce: null }]),
    ...maybe(0.3, 'windows', WINDOWS),
    ...maybe(0.3, 'preferUpdated', [true, true, false, null]),
    ...maybe(0.4, 'capacity', ['wait', 'wait', 'warn', null]),
    ...maybe(0.3, 'minInterval', ['10m', '45m', '90m', '0s', null]),
    ...maybe(0.2, 'completeWithin', ['10m', '2h', null]),
    ...maybe(0.3, 'settle', ['0s', '1m', '10m', null]),
    ...maybe(0.2, 'settleFails', [true, false, null]),
    ...maybe(topic === 'drains' ? 0.8 : 0.3, 'drain', DRAINS),
    ...maybe(0.2, 'windowFit', ['off', 'strict', false, null]),
    ...maybe(0.5, 'proof', PROOFS),
    ...maybe(0.3, 'nodeSoak', ['0s', '30s', '2m', null]),
    ...(random() < 0.3 && { freezes: [drawFreeze(random, stormMs)] }),
    ...(random() < 0.35 && oneOf(random, TOGETHER)),
  };
  return { ...terms, ...drawVersionTerms(random, terms) };
}

/** Terms of which each says little without the others. */
const TOGETHER: readonly PolicySpec[] = [
  { maxConcurrent: 'unlimited', maxFailed: 1, proof: { nodes: 3 } },
  { maxConcurrent: 3, maxFailed: 1, proof: { nodes: '100%' } },
  { maxConcurrent: 'unlimited', proof: { soak: '10m' } },
  { maxConcurrent: 2, proof: { nodes: 2, soak: '5m' }, nodeSoak: '0s' },
];

const WINDOWS: readonly unknown[] = [
  [],
  null,
  [{ start: '0 * * * *', duration: '40m' }],
  [{ start: '*/30 * * * *', duration: '12m', timeZone: 'America/St_Johns' }],
  [
    { start: '10 */2 * * *', duration: '1h' },
    { start: '30 1-23/2 * * mon-sun', duration: '20m', timeZone: 'Europe/Berlin' },
  ],
];

const PROOFS: readonly unknown[] = [
  { nodes: 1 },
  { nodes: 2 },
  { nodes: 3 },
  { nodes: '50%' },
  { nodes: 1, soak: '5m' },
  { nodes: 2, soak: '12m' },
  { soak: '90s' },
  { soak: '12m', compare: 'fail' },
  { nodes: 2, soak: '15m', compare: 'fail' },
  { soak: '5m', widen: 1 },
  { widen: 2, compare: 'warn' },
  { per: ZONE },
  { nodes: 1, soak: '2m', per: POOL },
  { nodes: null, compare: null, per: null, widen: null },
];

const DRAINS: readonly unknown[] = [
  { waitFor: { matchLabels: { app: 'app-1' } }, upTo: '3m' },
  { waitFor: { matchLabels: { app: 'app-2' } }, upTo: '40m' },
  { honorDoNotDisrupt: true, upTo: '10m' },
  null,
];

function drawFreeze(random: Random, stormMs: number): object {
  const from = Math.round(random() * stormMs);
  return freeze(from, from + between([2 * MINUTE, HOUR], random));
}

/** Times of a resource are those of the cluster's clock, in whole seconds. */
export function freeze(from: Instant, to: Instant): object {
  const time = (instant: Instant): string => `${new Date(BEGINS_AT + instant).toISOString().slice(0, 19)}Z`;
  return { from: time(from), to: time(Math.max(to, from + 1000)), reason: 'a freeze of the simulation' };
}

/** Another policy for whichever nodes. */
export function drawPolicy(random: Random, stormMs: number): PolicySpec {
  const priority = oneOf(random, [-10, 0, 0, 5, 20]);
  const [selector] = Object.values(oneOf(random, LAYOUTS));
  return { ...selector, priority, ...drawTerms(random, stormMs) };
}

/** The spec with what its schema lets pass and nobody can obey. */
export function broken(random: Random, name: string, spec: PolicySpec): PolicySpec {
  const window = { start: '0 * * * *', duration: '10m' };
  return {
    ...spec,
    ...oneOf(random, [
      { windows: [{ ...window, start: '61 * * * *' }] },
      { windows: [{ ...window, timeZone: 'Mars/Olympus' }] },
      { freezes: [{ from: '2026-03-02T05:00:00Z', to: '2026-03-02T04:00:00Z' }] },
      { after: [name] },
    ]),
  };
}
