import {
  fleet,
  NOW,
  type Parts,
  POLICY,
  ruling,
  type Rules,
  underRules,
  updated,
  type World,
} from '../../../test/controller/plan/fleet.ts';
import { type Memory, plan } from '../../../runtime/controller/plan/plan.ts';
import type { PolicyView } from '../../../runtime/controller/plan/facts/policies.ts';
import type { Bench, Figure } from '../bench.ts';
import { cpuMs, quantile } from './cpu.ts';

const SIZES = [100, 250, 500, 1000, 2500, 5000, 10_000];
const MOST = 10_000;
const POLICIES = 20;
const WARM_UP = 30;
/** Small fleets are planned more often: what disturbs a short plan weighs more. */
const runsOf = (size: number): number => Math.max(500, 5_000_000 / size);
const RULES: Rules = { ...POLICY, maxConcurrent: { kind: 'percent', percent: 10 }, conditionWrites: 600 };

export const planCost: Bench = {
  name: 'plan-cost',
  what: 'CPU time of one plan by the size of the fleet, after one node has changed: at rest, and all waiting with their conditions to be written',
  async run(context) {
    const measure = (what: string, parts: Parts): Costs => {
      context.progress(what);
      return { what, costs: SIZES.map((size) => costOf(size, parts)) };
    };
    const [resting, waiting] = [measure('at rest', updated), measure('all waiting', {})];
    context.progress('under policies');
    const governed = ['at rest', 'all waiting'].map((what) => {
      const name = `${MOST} nodes under ${POLICIES} policies ${what}`;
      return figureOf(name, governedCost(what === 'at rest' ? updated : {}));
    });
    const plain = [resting, waiting].flatMap(({ what, costs }) => costs.flatMap((cost) => figuresOf(what, cost)));
    return [...plain, ...governed.flat()];
  },
};

interface Cost {
  readonly size: number;
  /** Milliseconds. */
  readonly mean: number;
  readonly worst: number;
}

interface Costs {
  readonly what: string;
  readonly costs: readonly Cost[];
}

const costOf = (size: number, parts: Parts): Cost => measured(fleetOf(size, parts));

/** With everything that a policy has: the last rules what no other selects. */
function governedCost(parts: Parts): Cost {
  const { nodes, ...world } = fleetOf(MOST, parts);
  const labelled = nodes.map((node, index) =>
    Object.assign({}, node, { labels: labelsOf(index), createdAt: index % 97 }),
  );
  return measured({ ...world, nodes: labelled, policies: policiesOf(POLICIES) });
}

/** As many as the kubelet and a cloud give a node, and the pool. */
function labelsOf(index: number): Record<string, string> {
  const others = Array.from({ length: 15 }, (_, key) => [`label-${key}.example.org/name`, 'value'] as const);
  return {
    ...Object.fromEntries(others),
    'kubernetes.io/hostname': `n${index}`,
    'topology.kubernetes.io/zone': `eu-central-1${'abc'[index % 3]}`,
    pool: `pool-${index % POLICIES}`,
  };
}

function policiesOf(count: number): PolicyView[] {
  return Array.from({ length: count }, (_, index) =>
    ruling(`pool-${index}`, {
      selector: { matchLabels: { pool: `pool-${index}` } },
      priority: index,
      maxConcurrent: { kind: 'percent', percent: 10 },
      zones: { key: 'topology.kubernetes.io/zone', atOnce: index % 2 === 0 ? 1 : Infinity },
      freezes: [{ from: NOW + 86_400_000, to: NOW + 2 * 86_400_000, reason: 'a freeze' }],
      proof: { nodes: { kind: 'count', count: 2 }, soakMs: 600_000 },
      after: index === 0 ? [] : [`pool-${index - 1}`],
    }),
  );
}

function measured(snapshot: World): Cost {
  const size = snapshot.nodes.length;
  const times: number[] = [];
  const memory: Memory = {};
  let world = snapshot;
  for (let run = -WARM_UP; run < runsOf(size); run++) {
    world = eventIn(world, run + WARM_UP);
    const given = underRules(world, RULES);
    const began = cpuMs();
    plan(given, RULES, { now: NOW + run, memory });
    if (run >= 0) times.push(cpuMs() - began);
  }
  return { size, mean: times.reduce((sum, time) => sum + time, 0) / times.length, worst: quantile(times, 0.99) };
}

/** A plan is made where something has happened: a node and its shadow were read again, wherever in the fleet. */
function eventIn({ nodes, shadows, ...rest }: World, count: number): World {
  const at = (count * 7919) % nodes.length;
  const [node, shadow] = [nodes[at], shadows[at]];
  if (!node || !shadow) throw new TypeError(`expected a node and its shadow at ${at}`);
  return { ...rest, nodes: nodes.with(at, { ...node }), shadows: shadows.with(at, { ...shadow }) };
}

const nLogN = (size: number): number => size * Math.log2(size);

function figureOf(name: string, { mean, worst }: Cost): Figure[] {
  return [
    { name: `${name}, mean`, value: mean, unit: 'ms CPU' },
    { name: `${name}, 99th percentile`, value: worst, unit: 'ms CPU', atMost: 25 },
  ];
}

function figuresOf(what: string, { size, mean, worst }: Cost): Figure[] {
  const name = `${size} nodes ${what}`;
  return [
    { name: `${name}, mean`, value: mean, unit: 'ms CPU' },
    { name: `${name}, 99th percentile`, value: worst, unit: 'ms CPU', atMost: 20 },
    { name: `${name}, mean per n log n`, value: (mean / nLogN(size)) * 1_000_000, unit: 'ns' },
  ];
}

function fleetOf(size: number, parts: Parts): World {
  const names = Array.from({ length: size }, (_, index) => `ip-10-0-${index >> 8}-${index & 255}.ec2.internal`);
  return fleet(Object.fromEntries(names.map((name) => [name, parts])));
}
