import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../runtime/cli/command.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { RELEASES_PATH } from '../../runtime/api/resources.ts';
import { Stage } from '../controller/stage.ts';
import { definePolicies } from '../policies.ts';
import { deploy, requestOn } from './deployed.ts';

/** Releases that wait for a person or for another cluster, with a controller at work. Node a is offered 1.1.0. */

const NAME = '1.1.0.aws-k8s-1.33.amd64';
let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a');
});
afterEach(() => stage.end());

async function under(spec: object): Promise<void> {
  await definePolicies(stage, { prod: { nodeSelector: {}, ...spec } });
  await deploy(stage);
  await stage.pass(60_000);
}

const run = (name: string, names: readonly string[], values: object = {}): Promise<Answer> =>
  COMMANDS.find((command) => command.name === name)!.run({ ...requestOn(stage, names), values: { ...values } });

describe('approve', () => {
  test('lets a release start under the policy, and says how to take that back', async () => {
    await under({ approval: 'Required' });
    expect(await stage.spec('a')).toBe('Idle');
    const approved = await run('approve', ['1.1.0'], { policy: 'prod' });
    expect(approved.lines(PLAIN)).toEqual([
      'release 1.1.0 (aws-k8s-1.33/amd64): is approved for policy prod',
      `  undo: kubectl patch brr ${NAME} --type merge --patch '{"spec":{"approvedFor":[]}}'`,
    ]);
    await stage.pass(10_000);
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
    const again = await run('approve', ['1.1.0'], { policy: 'prod' });
    expect(again.lines(PLAIN)[0]).toContain('(already so)');
  });

  test('approves a version ahead of its first offer', async () => {
    await under({ approval: 'Required' });
    await run('approve', ['1.2.0'], { policy: 'prod' });
    await stage.report('a', { target_version: '1.2.0' });
    await stage.pass(10_000);
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.2.0');
  });

  test('refuses a policy that there is not, and none', async () => {
    await under({ approval: 'Required' });
    await expect(run('approve', ['1.1.0'], { policy: 'dev' })).rejects.toThrow('there is no policy dev');
    await expect(run('approve', ['1.1.0'])).rejects.toThrow('expected --policy NAME');
  });
});

test('what one cluster has proven is what another one waits for, as a pipeline carries it over', async () => {
  await under({ after: [{ external: 'staging-eu' }] });
  expect(await stage.spec('a')).toBe('Idle');
  const staging = await Stage.with('s');
  await deploy(staging, { PROOF_NODES: '1' });
  await staging.pass(10_000);
  await staging.update('s');
  await staging.pass(10_000);
  const releases = COMMANDS.find(({ name }) => name === 'releases')!;
  const { proven } = (await releases.run(requestOn(staging))).value as { proven: readonly { object: object }[] };
  expect(proven).toMatchObject([{ policy: null, version: '1.1.0', family: 'aws-k8s-1.33/amd64' }]);
  await staging.end();
  const [{ object }] = proven as readonly [{ readonly object: { readonly spec: object } }];
  await stage.create(RELEASES_PATH, { ...object, spec: { ...object.spec, provenIn: ['staging-eu'] } });
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});
