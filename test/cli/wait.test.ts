import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { CommandRequest } from '../../runtime/cli/command.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { status } from '../../runtime/cli/commands/status.ts';
import { wait } from '../../runtime/cli/commands/wait.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from '../controller/stage.ts';
import { inTime } from '../in-time.ts';
import { deploy, requestOn } from './deployed.ts';

/** What scripts ask: whether the fleet is done, and to be told once it is. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
});
afterEach(() => stage.end());

const asked = (values: CommandRequest['values']): CommandRequest => Object.assign({}, requestOn(stage), { values });
const codeOf = async (): Promise<number> => (await status.run(asked({ 'exit-code': true }))).exitCode ?? 0;

test('wait ends once every node runs what it is offered', async () => {
  await deploy(stage, { MAX_CONCURRENT_UPDATE: '2' });
  const waiting = wait.run(asked({}));
  for (const name of ['a', 'b']) await stage.update(name);
  await stage.pass(30_000);
  const answer = await inTime('the end of wait', waiting);
  expect(answer).toMatchObject({ value: { for: 'complete', met: true, left: [] }, exitCode: 0 });
  expect(answer.lines(PLAIN)).toEqual(['all nodes are complete']);
});

test('where the time is over it says which nodes are left, and why', async () => {
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
  const waiting = wait.run(asked({ timeout: '10m' }));
  await stage.pass(700_000);
  const answer = await inTime('the end of wait', waiting);
  expect(answer).toMatchObject({
    value: { met: false, left: [{ node: 'a', reason: 'OutsideWindow' }, { node: 'b' }] },
    exitCode: 1,
  });
  expect(answer.lines(PLAIN)[0]).toBe('after 10 min not complete: a (OutsideWindow), b (OutsideWindow)');
});

test('that no update runs, and the nodes of one policy, can be waited for', async () => {
  await definePolicies(stage, { done: { nodeSelector: { matchLabels: { pool: 'done' } } } });
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
  for (const values of [{ for: 'idle' }, { policy: 'done' }])
    expect((await wait.run(asked(values))).value).toMatchObject({ met: true });
  await expect(wait.run(asked({ for: 'ever' }))).rejects.toThrow('--for: expected complete or idle, got ever');
  await expect(wait.run(asked({ timeout: 'ever' }))).rejects.toThrow('--timeout: expected a duration');
});

test('a node whose update runs is all that keeps a fleet from being idle', async () => {
  await deploy(stage);
  const answer = await wait.run(asked({ for: 'idle', timeout: '0s' }));
  expect(answer).toMatchObject({ value: { for: 'idle', met: false, left: [{ node: 'a' }] }, exitCode: 1 });
});

test('status --exit-code tells what needs somebody from what only waits, and from nothing to do', async () => {
  await deploy(stage);
  expect(await codeOf()).toBe(4);
  await stage.askForReboot('a');
  await stage.setReady('a', false);
  await stage.pass(3_600_000);
  expect(await codeOf()).toBe(3);
  await stage.setReady('a', true);
  await stage.update('a');
  await stage.update('b');
  expect(await codeOf()).toBe(0);
  expect((await status.run(asked({}))).exitCode).toBe(0);
});
