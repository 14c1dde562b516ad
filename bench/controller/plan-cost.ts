import { plan } from '../../runtime/controller/plan/plan.ts';
import type { Policy } from '../../runtime/controller/plan/policy.ts';
import type { Snapshot } from '../../runtime/controller/plan/snapshot.ts';
import { fleet, NOW, type Parts, POLICY, updated } from '../../test/controller/plan/fleet.ts';
import type { Bench, Figure } from '../bench.ts';
import { cpuMs, quantile } from './cpu.ts';

const SIZES = [1250, 2500, 5000, 10_000];
const WARM_UP = 30;
const RUNS = 300;
const RULES: Policy = { ...POLICY, maxConcurrent: { kind: 'percent', percent: 10 }, conditionWrites: 600 };

export const planCost: Bench = {
  name: 'plan-cost',
  what: 'CPU time of one plan by the size of the fleet: at rest, and all waiting with their conditions to be written',
  run: async () => SIZES.flatMap((size) => [costOf('at rest', size, updated), costOf('all waiting', size, {})].flat()),
};

function costOf(what: string, size: number, parts: Parts): Figure[] {
  const snapshot = fleetOf(size, parts);
  const times: number[] = [];
  for (let run = -WARM_UP; run < RUNS; run++) {
    const began = cpuMs();
    plan(snapshot, RULES, NOW + run);
    if (run >= 0) times.push(cpuMs() - began);
  }
  const name = `${size} nodes ${what}`;
  const nLogN = (size * Math.log2(size)) / 1_000_000;
  const mean = times.reduce((sum, time) => sum + time, 0) / RUNS;
  return [
    { name: `${name}, mean`, value: mean, unit: 'ms CPU' },
    { name: `${name}, 99th percentile`, value: quantile(times, 0.99), unit: 'ms CPU', atMost: 20 },
    { name: `${name}, mean per n log n`, value: mean / nLogN, unit: 'ns' },
  ];
}

function fleetOf(size: number, parts: Parts): Snapshot {
  const names = Array.from({ length: size }, (_, index) => `ip-10-0-${index >> 8}-${index & 255}.ec2.internal`);
  return fleet(Object.fromEntries(names.map((name) => [name, parts])));
}
