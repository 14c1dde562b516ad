import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { DECIDED_ANNOTATION, decidedOn, decidedText } from '../../runtime/api/release/decided.ts';
import { askedIn } from '../../runtime/api/shadow/asked.ts';
import { HOLD_ANNOTATION, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { definePolicies } from '../policies.ts';
import { deploy } from './deployed.ts';
import { Reached } from './served.ts';

/** Who holds a node, or has paused a policy or the fleet, and since when. */

let stage: Stage;
let reached: Reached;
beforeEach(async () => {
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, 'a', 'b');
  await definePolicies(stage, { all: { nodeSelector: {}, windows: [] } });
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
  reached = await Reached.of(stage.cluster);
});
afterEach(async () => {
  await reached.close();
  await stage.end();
});

const flat = (out: string): string => out.replaceAll(/\s+/g, ' ');
const BY_ANN = /by ann: kernel bug, 20\d\d-\d\d-\d\dT[\d:]+Z/;
const shown = async (...args: readonly string[]): Promise<string> => flat((await reached.run(...args)).out);
const page = async () =>
  (await readModel({ transport: stage.transport, namespace: NAMESPACE }, systemClock.now())).sections.fleet;

test('a held node says by whom in each command, also where an older version has held it', async () => {
  await reached.run('hold', 'a', '--by', 'ann: kernel bug');
  await stage.patchNode('b', { metadata: { annotations: { [HOLD_ANNOTATION]: 'bob' } } });
  await stage.pass();
  const held = new RegExp(`Held:? held ${BY_ANN.source}`);
  for (const args of [['status'], ['why'], ['why', 'a']]) expect(await shown(...args)).toMatch(held);
  expect(await shown('status')).toContain('b Held: held by bob (policy all)');
  const { nodes } = await reached.json<{ nodes: readonly object[] }>('why', 'a');
  expect(nodes).toMatchObject([{ reason: 'Held', message: expect.stringMatching(BY_ANN) }]);
  expect(await shown('plan')).toMatch(BY_ANN);
});

test('a paused fleet says by whom in each command, in JSON and on the page', async () => {
  await reached.run('pause', '--by', 'ann: kernel bug');
  await stage.pass();
  for (const args of [['status'], ['why'], ['plan'], ['doctor']])
    expect(await shown(...args)).toMatch(new RegExp(`the fleet is paused ${BY_ANN.source}`, 'i'));
  const pausedBy = { by: 'ann: kernel bug', at: expect.stringMatching(/^20/) };
  expect(await reached.json('status')).toMatchObject({ paused: true, pausedBy });
  expect(await reached.json('why')).toMatchObject({ paused: true, pausedBy });
  expect(await page()).toMatchObject({ paused: true, pausedBy: expect.stringMatching(BY_ANN) });
});

test('a paused policy says by whom, until it is resumed', async () => {
  await reached.run('pause', 'all', '--by', 'ann: kernel bug');
  await stage.pass();
  for (const args of [['status'], ['why']])
    expect(await shown(...args)).toMatch(new RegExp(`policy all is paused ${BY_ANN.source}`));
  await reached.run('resume', 'all');
  await stage.patch('/apis/brupop.bottlerocket.aws/v1alpha1/bottlerocketupdatepolicies/all', {
    spec: { paused: true },
  });
  expect(await shown('why')).toContain('policy all is paused (');
});

test.each([
  [undefined, undefined],
  ['', undefined],
  ['true', undefined],
  ['bob', { by: 'bob' }],
  ['2 disks are broken', { by: '2 disks are broken' }],
  ['2026-01-01T02:00:00Z ann: kernel bug', { by: 'ann: kernel bug', at: '2026-01-01T02:00:00Z' }],
])('the annotation %j', (value, asked) => {
  expect(askedIn(value)).toEqual(asked);
});

test('who has decided on a release is told as who has asked, and not at any length', () => {
  const bearing = (by: string) => {
    const value = decidedText('Halt', { by, at: '2026-01-01T02:00:00Z' });
    return decidedOn({ metadata: { annotations: { [DECIDED_ANNOTATION]: value } }, spec: { decision: 'Halt' } });
  };
  expect(bearing('ann: kernel bug')).toEqual({ by: 'ann: kernel bug', at: '2026-01-01T02:00:00Z' });
  expect(bearing('x'.repeat(10_000))?.by.length).toBeLessThan(200);
});
