import { describe, expect, test } from '@jest/globals';
import { policyOf, readControllerConfig } from '../../runtime/controller/config.ts';
import { parsePolicy } from '../../runtime/policy/parse.ts';
import { seeded } from '../random.ts';
import { policyFacts } from './invariants/policy-facts.ts';
import { broken, drawPolicies, drawPolicy, type PolicySpec } from './policies.ts';

const HOUR = 3_600_000;
const WORLDS = Array.from({ length: 400 }, (_, seed) => drawPolicies(seeded(seed), 6 * HOUR));
const DRAWN = WORLDS.flatMap(({ policies }) => Object.entries(policies));
const OTHERS = Array.from({ length: 200 }, (_, seed) => ['extra', drawPolicy(seeded(seed), 6 * HOUR)] as const);
const VARIABLES = policyOf(readControllerConfig({ MY_NODE_NAME: 'n' }));

function isObeyed(name: string, spec: PolicySpec): boolean {
  return !('faults' in parsePolicy({ metadata: { name }, spec }, VARIABLES));
}

/** As the judges read it. */
function isBroken(name: string, spec: PolicySpec): boolean {
  const metadata = { name, uid: 'u', resourceVersion: '1' };
  return policyFacts({ metadata, spec } as Parameters<typeof policyFacts>[0]).broken;
}

describe('policies of the simulation', () => {
  test('there are worlds with none, one and several, without the kind, and with a kind that comes later', () => {
    const counts = new Set(WORLDS.map(({ policies }) => Math.min(2, Object.keys(policies).length)));
    expect(counts).toEqual(new Set([0, 1, 2]));
    expect(WORLDS.some(({ definedAt }) => definedAt === undefined)).toBe(true);
    expect(WORLDS.some(({ definedAt = 0 }) => definedAt > 0)).toBe(true);
  });

  test('what is drawn can be obeyed, for the operator and for its judges', () => {
    const refused = [...DRAWN, ...OTHERS].filter(([name, spec]) => !isObeyed(name, spec) || isBroken(name, spec));
    expect(refused).toEqual([]);
  });

  test('what is broken cannot, for both', () => {
    const refused = DRAWN.map(([name, spec], seed) => [name, broken(seeded(seed), name, spec)] as const);
    expect(refused.filter(([name, spec]) => isObeyed(name, spec) || !isBroken(name, spec))).toEqual([]);
  });
});
