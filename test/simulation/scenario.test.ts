import { expect, test } from '@jest/globals';
import { readAgentConfig } from '../../runtime/agent/config.ts';
import { readApiserverConfig } from '../../runtime/apiserver/config.ts';
import { policyOf, readControllerConfig } from '../../runtime/controller/config.ts';
import { parsePolicy } from '../../runtime/policy/parse.ts';
import { seeded } from '../random.ts';
import { CATALOGUE } from './faults/catalogue.ts';
import { policyFacts } from './invariants/policy-facts.ts';
import { MOMENTS } from './moment-names.ts';
import { DECISIONS, PLOTS } from './plots.ts';
import { broken } from './policies.ts';
import { draw } from './scenario.ts';

const SCENARIOS = Array.from({ length: 300 }, (_, index) => draw(1 + index));
const POLICIES = SCENARIOS.flatMap(({ policies }) => Object.entries(policies.policies));
const VARIABLES = policyOf(readControllerConfig({ MY_NODE_NAME: 'n' }));

test('each kind of fault, and each moment, is drawn', () => {
  const faults = SCENARIOS.flatMap((scenario) => scenario.faults);
  const moments = faults.flatMap(({ when }) => (when.kind === 'moment' ? [when.moment] : []));
  expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(CATALOGUE.map(({ name }) => name)));
  expect(new Set(moments)).toEqual(new Set(Object.keys(MOMENTS)));
});

test('what a plot brings together may be aimed there', () => {
  const kinds = new Map(CATALOGUE.map((kind) => [kind.name, kind]));
  const misplaced = [...PLOTS, ...DECISIONS].flat().filter(({ kind: name, moment, phase }) => {
    const { aim, phases } = kinds.get(name)!;
    return (aim && !aim.includes(moment)) || (phases && !phases.includes(phase));
  });
  expect(misplaced).toEqual([]);
});

test('settings are such as the processes take', () => {
  for (const { settings } of SCENARIOS) {
    expect(() => readControllerConfig({ MY_NODE_NAME: 'n', ...settings.controller })).not.toThrow();
    expect(() => readApiserverConfig(settings.apiserver)).not.toThrow();
    expect(() => readAgentConfig({ MY_NODE_NAME: 'n', ...settings.agent })).not.toThrow();
  }
});

test('policies can be obeyed, or not, for the operator as for its judges', () => {
  const all = POLICIES.flatMap(([name, spec], seed) => [
    [name, spec] as const,
    [name, broken(seeded(seed), name, spec)] as const,
  ]);
  const isObeyed = (name: string, spec: object): boolean =>
    !('faults' in parsePolicy({ metadata: { name }, spec }, VARIABLES));
  const isBroken = (name: string, spec: object): boolean =>
    policyFacts({ metadata: { name, uid: 'u', resourceVersion: '1' }, spec } as Parameters<typeof policyFacts>[0])
      .broken;
  expect(all.filter(([name, spec]) => isObeyed(name, spec) === isBroken(name, spec))).toEqual([]);
});
