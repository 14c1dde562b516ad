import { describe, expect, test } from '@jest/globals';
import { readAgentConfig } from '../../runtime/agent/config.ts';
import { readApiserverConfig } from '../../runtime/apiserver/config.ts';
import { readControllerConfig } from '../../runtime/controller/config.ts';
import { CATALOGUE } from './faults/catalogue.ts';
import { MOMENTS } from './moment-names.ts';
import { blinds } from './invariants/sight.ts';
import { DECISIONS, PLOTS } from './plots.ts';
import { draw } from './scenario.ts';

const SCENARIOS = Array.from({ length: 300 }, (_, index) => draw(1 + index));
const FAULTS = SCENARIOS.flatMap(({ faults }) => faults);

test('a seed is the same scenario each time, and another than its neighbour', () => {
  expect(draw(7)).toEqual(draw(7));
  expect(draw(7)).not.toEqual({ ...draw(8), seed: 7 });
});

test('fleets have 3 to 50 nodes, and one in twenty has 200', () => {
  const sizes = SCENARIOS.map(({ nodes }) => nodes);
  const large = sizes.filter((nodes) => nodes === 200).length;
  expect(Math.min(...sizes)).toBe(3);
  expect(Math.max(...sizes.filter((nodes) => nodes !== 200))).toBeLessThanOrEqual(50);
  expect(large).toBeGreaterThan(5);
  expect(large).toBeLessThan(30);
});

test('each kind of fault, each moment and each phase is drawn', () => {
  const moments = FAULTS.flatMap(({ when }) => (when.kind === 'moment' ? [when.moment] : []));
  expect(new Set(FAULTS.map(({ kind }) => kind))).toEqual(new Set(CATALOGUE.map(({ name }) => name)));
  expect(new Set(moments)).toEqual(new Set(Object.keys(MOMENTS)));
});

test('most faults are aimed, and all begin within the storm', () => {
  const aimed = FAULTS.filter(({ when }) => when.kind === 'moment');
  expect(aimed.length / FAULTS.length).toBeGreaterThan(0.8);
  for (const { faults, stormMs } of SCENARIOS)
    expect(Math.max(...faults.map(({ when }) => (when.kind === 'at' ? when.at : when.from)))).toBeLessThan(stormMs);
});

test('some storms blur nothing, and most blur much', () => {
  const blurred = SCENARIOS.filter(({ faults }) => faults.some(({ kind }) => blinds(kind)));
  expect(blurred.length / SCENARIOS.length).toBeGreaterThan(0.6);
  expect(blurred.length / SCENARIOS.length).toBeLessThan(0.8);
});

test('no two faults of a scenario have the same number', () => {
  for (const { faults } of SCENARIOS) expect(new Set(faults.map(({ id }) => id)).size).toBe(faults.length);
});

test('what a plot brings together may be aimed there', () => {
  const kinds = new Map(CATALOGUE.map((kind) => [kind.name, kind]));
  const misplaced = [...PLOTS, ...DECISIONS].flat().filter(({ kind: name, moment, phase }) => {
    const { aim, phases } = kinds.get(name)!;
    return (aim && !aim.includes(moment)) || (phases && !phases.includes(phase));
  });
  expect(misplaced).toEqual([]);
});

describe('releases', () => {
  test('come one after the other, the first of them before the storm', () => {
    for (const { releases } of SCENARIOS) {
      const times = releases.map(({ from }) => from);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times[0]).toBe(0);
    }
  });

  test('are bad in some runs, and then mostly replaced', () => {
    const bad = SCENARIOS.filter(({ releases }) => releases.some((release) => release.bad));
    const stay = bad.filter(({ releases }) => releases.at(-1)?.bad);
    expect(bad.length).toBeGreaterThan(60);
    expect(stay.length).toBeLessThan(bad.length / 3);
  });
});

test('settings are such as the processes take', () => {
  for (const { settings } of SCENARIOS) {
    expect(() => readControllerConfig({ MY_NODE_NAME: 'n', ...settings.controller })).not.toThrow();
    expect(() => readApiserverConfig(settings.apiserver)).not.toThrow();
    expect(() => readAgentConfig({ MY_NODE_NAME: 'n', ...settings.agent })).not.toThrow();
  }
});
