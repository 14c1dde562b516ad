import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Answer } from '../../runtime/cli/command.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { UPDATED_FROM_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { releasesOf } from '../../runtime/api/resources.ts';
import { Stage } from '../controller/stage.ts';
import { definePolicies } from '../policies.ts';
import { deploy, requestOn } from './deployed.ts';

/** Taking nodes back from a release, with a controller at work. Node a has updated from 1.0.0 to 1.1.0, b came with it, and c is offered it. */

const NAME = '1.1.0.aws-k8s-1.33.amd64';
const CALLED = 'release 1.1.0 (aws-k8s-1.33/amd64)';
let stage: Stage;

beforeEach(async () => {
  stage = await Stage.with('a', 'b', 'c');
  for (const node of ['a', 'b'])
    await stage.report(node, {
      current_version: '1.1.0',
      update_settings: { version_lock: 'latest', read_at: '2026-01-01T00:00:00Z' },
    });
  await stage.shadows.patch('brs-a', { metadata: { annotations: { [UPDATED_FROM_ANNOTATION]: '1.0.0' } } });
  await definePolicies(stage, { prod: { nodeSelector: {}, paused: true } });
  await deploy(stage);
  await stage.pass(40_000);
});
afterEach(() => stage.end());

async function run(name: string, values: object = {}, ...names: readonly string[]): Promise<Answer> {
  const command = COMMANDS.find((one) => one.name === name)!;
  return command.run({ ...requestOn(stage, names), values: { ...values } });
}

const lock = async (node: string): Promise<string | null | undefined> =>
  (await stage.shadows.get(`brs-${node}`))?.spec.version_wish?.version_lock;
const decided = async (): Promise<object | undefined> => (await releasesOf(stage.transport).get(NAME))?.spec;

test('rollback says of each node where it goes or why it stays, and writes nothing with --dry-run', async () => {
  const answer = await run('rollback', { 'dry-run': true }, '1.1.0');
  expect(answer.lines(PLAIN)).toEqual([
    `${CALLED}: all nodes go back from it, and none starts on it`,
    `  undo: kubectl patch brr ${NAME} --type merge --patch '{"spec":{"rollbackFor":[]}}'`,
    'Nothing was written: --dry-run.',
    '  a  goes back to 1.0.0',
    '  b  stays: nobody knows a version that it could go back to',
    '  Each way back is a download and a drain, under the budget of its policy.',
  ]);
  expect(answer.value).toMatchObject({
    dryRun: true,
    nodes: [
      { node: 'a', runs: '1.1.0', to: '1.0.0' },
      { node: 'b', stays: expect.any(String) },
    ],
  });
  expect(await decided()).not.toHaveProperty('rollbackFor');
});

test('rollback has nodes of the policy locked to what they came from, which ends with its undo, or once the release is allowed', async () => {
  const prod = { policy: 'prod', by: 'ann: kernel bug' };
  await run('rollback', prod, '1.1.0');
  expect(await decided()).toMatchObject({ rollbackFor: ['prod'] });
  await stage.patch('/apis/brupop.bottlerocket.aws/v1alpha1/bottlerocketupdatepolicies/prod', {
    spec: { paused: false },
  });
  await stage.pass(40_000);
  expect([await lock('a'), await lock('b'), await lock('c')]).toEqual(['1.0.0', undefined, undefined]);
  expect((await run('releases', {}, NAME)).lines(PLAIN)[0]).toMatch(
    /: Halted, by a person: rollback \(policy prod\) by ann: kernel bug, /,
  );
  const why = (await run('why', {}, 'b', 'c')).lines(PLAIN).join('\n');
  expect(why).toContain('1.1.0 is to be left, but nobody knows a version that it could go back to');
  expect(why).toContain('people take nodes back from 1.1.0');
  expect((await run('rollback', prod, '1.1.0')).lines(PLAIN)[0]).toContain('(already so)');

  const [, undo = ''] = (await run('allow', {}, '1.1.0')).lines(PLAIN);
  expect(undo).toContain('{"spec":{"decision":"Automatic","rollbackFor":["prod"]}}');
  await stage.pass(10_000);
  expect(await lock('a')).toBeUndefined();
  expect(await stage.spec('c')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test('a way back that its host refuses is given up, so that the host is offered the next release', async () => {
  await run('rollback', {}, '1.1.0');
  await stage.patch('/apis/brupop.bottlerocket.aws/v1alpha1/bottlerocketupdatepolicies/prod', {
    spec: { paused: false },
  });
  await stage.pass(40_000);
  expect(await lock('a')).toBe('1.0.0');
  const ours = { version_lock: '1.0.0' };
  const before = { version_lock: 'latest' };
  await stage.report('a', { version_wish: { ours, before, refused: 'NoMigrations', detail: 'no path' } });
  await stage.pass(5000);
  expect(await lock('a')).toBeUndefined();
  await stage.report('a', { version_wish: null });
  await stage.pass(60_000);
  expect(await lock('a')).toBeUndefined();
  await stage.report('a', { target_version: '1.2.0' });
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.2.0');
});

test('rollback refuses a policy and a release that there are not', async () => {
  await expect(run('rollback', { policy: 'dev' }, '1.1.0')).rejects.toThrow('there is no policy dev');
  await expect(run('rollback', {}, '1.3.0')).rejects.toThrow('there is no release 1.3.0');
});
