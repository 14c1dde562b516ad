import { MOST_AT_ONCE } from '../../../runtime/api/policy/quantity.ts';
import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import { POLICY } from '../../../test/controller/plan/fleet.ts';
import { rollOut } from '../../../test/controller/plan/rollout.ts';
import { seeded } from '../../../test/random.ts';
import type { Bench } from '../bench.ts';
import { cpuMs, quantile } from './cpu.ts';

/** With it, an entry is about as long as on EKS. */
const DOMAIN = '.eu-central-1.compute.internal';

export const planRollout: Bench = {
  name: 'plan-rollout',
  what: `10,000 nodes rolled over on the plan alone, a fifth at a time and ${MOST_AT_ONCE} at most, with failures and every invariant checked`,
  async run() {
    const times: number[] = [];
    const policy = {
      ...POLICY,
      maxConcurrent: { kind: 'percent', percent: 20 },
      maxFailed: { kind: 'percent', percent: 1 },
      soakMs: 120_000,
      ownNode: `n7${DOMAIN}`,
      conditionWrites: 600,
    } as const;
    const make = (work: () => Plan): Plan => {
      const began = cpuMs();
      const made = work();
      times.push(cpuMs() - began);
      return made;
    };
    const fleet = { size: 10_000, domain: DOMAIN };
    const { plans, faults, failures, longest } = rollOut({ ...fleet, policy, random: seeded(1), make });
    return [
      { name: 'plans made', value: plans, unit: '' },
      { name: 'updates that failed and came again', value: failures, unit: '' },
      { name: 'invariants broken', value: faults.length, unit: '', atMost: 0 },
      { name: 'permits taken at once, at most', value: longest.permits, unit: '', atMost: MOST_AT_ONCE },
      { name: 'list of permits, at its longest', value: longest.bytes, unit: 'bytes', atMost: 262_144 },
      { name: 'plan, median', value: quantile(times, 0.5), unit: 'ms CPU' },
      { name: 'plan, 99th percentile', value: quantile(times, 0.99), unit: 'ms CPU' },
    ];
  },
};
