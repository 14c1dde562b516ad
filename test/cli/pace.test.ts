import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { forecastFrom } from '../../runtime/cli/forecast/forecast.ts';
import { statusOf } from '../../runtime/cli/status/status.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { HOLD_ANNOTATION, LAST_UPDATE_ANNOTATION, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { deploy, seenOn } from './deployed.ts';
import { Reached } from './served.ts';

/** When the rollout ends, as `status` and the page say it: by the forecast of `plan --until-done`, or not by itself. */

interface Pace {
  readonly left: number;
  readonly stuck: number;
  readonly endsAt?: string;
  readonly waitsFor: readonly object[];
}

const NAMES = ['a', 'b', 'c', 'd'] as const;
let stage: Stage;
let reached: Reached;
beforeEach(async () => {
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 3_600_000, ...NAMES);
  for (const name of NAMES)
    await stage.shadows.patch(shadowName(name), { metadata: { annotations: { [LAST_UPDATE_ANNOTATION]: '300' } } });
  reached = await Reached.of(stage.cluster);
});
afterEach(async () => {
  await reached.close();
  await stage.end();
});

const flat = (out: string): string => out.replaceAll(/\s+/g, ' ');
const pace = async (): Promise<Pace> => (await reached.json<{ pace: Pace }>('status')).pace;

test('what goes on by itself ends when the forecast says, and what is held is named', async () => {
  await deploy(stage);
  await stage.patchNode('d', { metadata: { annotations: { [HOLD_ANNOTATION]: 'ann' } } });
  await stage.pass(3_590_000);
  const { left, stuck, endsAt, waitsFor } = await pace();
  expect({ left, stuck, waitsFor }).toEqual({ left: 3, stuck: 1, waitsFor: [{ reason: 'Held', nodes: ['d'] }] });
  const forecast = await reached.json<{ endsAt: string }>('plan', '--until-done');
  expect(Math.abs(Date.parse(endsAt!) - Date.parse(forecast.endsAt))).toBeLessThan(20_000);
  const { out } = await reached.run('status');
  expect(flat(out)).toMatch(
    /about 1[2-5] min.* to go, until \S+; 1 node does not go on by itself: waits for d \(Held\)\. $/,
  );
});

test('an end that is not foreseen in time is later than what was, and whoever waits for its turn is not stuck', async () => {
  await deploy(stage, { MAX_CONCURRENT_UPDATE: '1' });
  await stage.patchNode('d', { metadata: { annotations: { [HOLD_ANNOTATION]: 'ann' } } });
  await stage.pass(3_590_000);
  const seen = await seenOn(stage);
  const cut = statusOf(seen, forecastFrom(seen, { isOver: () => true })).pace;
  expect(cut).toMatchObject({ left: 3, stuck: 1, isCut: true, waitsFor: [{ reason: 'Held', nodes: ['d'] }] });
});

test('a node that is lost, and has the only permit, is what all others wait for', async () => {
  await deploy(stage, { MAX_CONCURRENT_UPDATE: '1' });
  await stage.askForReboot('a');
  await stage.setReady('a', false);
  await stage.pass(3_500_000);
  expect(await pace()).toMatchObject({ left: 0, stuck: 4, waitsFor: [{ reason: 'NotReturned', nodes: ['a'] }] });
  expect((await pace()).endsAt).toBeUndefined();
  const { out } = await reached.run('status');
  expect(flat(out)).toContain('4 nodes do not go on by themselves: waits for a (NotReturned).');
  const { sections } = await readModel({ transport: stage.transport, namespace: NAMESPACE }, systemClock.now());
  expect(sections.fleet.pace).toMatchObject({ left: 0, stuck: 4, waitsFor: ['a (NotReturned)'] });
});

test('a drain that is blocked is not foretold to end', async () => {
  await deploy(stage, { MAX_CONCURRENT_UPDATE: '1' });
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.mark('a');
  const drain = {
    started_at: new Date(stage.clock.now()).toISOString(),
    reported_at: new Date(systemClock.now()).toISOString(),
    pods_left: 1,
    blocked_by: ['PodDisruptionBudget shop/web (pod shop/web-1)'],
  };
  await stage.report('a', { drain });
  await stage.pass(600_000);
  expect(await pace()).toMatchObject({ left: 0, stuck: 4, waitsFor: [{ reason: 'DrainBlocked', nodes: ['a'] }] });
});
