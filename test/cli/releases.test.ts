import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Answer } from '../../runtime/cli/command.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { RELEASES_PATH, releasesOf, type ReleaseResource } from '../../runtime/api/resources.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { RELEASE_CRD_NAME, RELEASE_PLURAL } from '../../runtime/api/release/names.ts';
import { Stage } from '../controller/stage.ts';
import { deployHalted, requestOn, seenOn } from './deployed.ts';

/** What people see of releases and decide on them, with a controller at work. */

const NAME = '1.1.0.aws-k8s-1.33.amd64';
const CALLED = 'release 1.1.0 (aws-k8s-1.33/amd64)';

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b', 'c');
  await deployHalted(stage);
});
afterEach(() => stage.end());

const run = (name: string, ...names: readonly string[]): Promise<Answer> =>
  COMMANDS.find((command) => command.name === name)!.run(requestOn(stage, names));
const linesOf = async (name: string, ...names: readonly string[]): Promise<readonly string[]> =>
  (await run(name, ...names)).lines(PLAIN);
const released = async (name = NAME): Promise<ReleaseResource | undefined> => releasesOf(stage.transport).get(name);
/** The command after `undo: kubectl patch brr NAME ... --patch`. */
const patchIn = (line = ''): object => JSON.parse(/--patch '(.*)'$/.exec(line)?.[1] ?? 'null') as object;

test('releases shows where a release is halted, since when and by how many, and who failed on it', async () => {
  const lines = await linesOf('releases');
  expect(lines[0]).toMatch(/^release 1\.1\.0 \(aws-k8s-1\.33\/amd64\): Halted, offered since \S+$/);
  expect(lines[1]).toMatch(/^ {2}the variables: halted since \S+ \(1 may fail\)$/);
  expect(lines[2]).toMatch(/^ {2}failed: a {2}BootFailed {2}\S+ {2}the variables$/);
  const { value } = await run('releases', 'v1.1.0');
  expect(value).toMatchObject({
    releases: [
      {
        name: NAME,
        version: '1.1.0',
        family: 'aws-k8s-1.33/amd64',
        decision: 'Automatic',
        policies: [{ name: null, haltedSince: expect.any(String), limit: '1' }],
        failures: [{ node: 'a', policy: null, reason: 'BootFailed' }],
      },
    ],
  });
});

test('releases are read once by releases, and by why for all nodes that it is asked of', async () => {
  const readBy = async (answer: Promise<Answer>): Promise<number> => {
    const before = stage.cluster.audit.length;
    await answer;
    return stage.cluster.audit.slice(before).filter(({ resource }) => resource === RELEASE_PLURAL).length;
  };
  expect(await readBy(run('releases'))).toBe(1);
  for (const node of ['b', 'c']) await stage.report(node, { target_version: '1.0.0' });
  await stage.pass();
  const ofOne = await readBy(run('why', 'b'));
  expect(await readBy(run('why', 'b', 'c'))).toBe(ofOne);
});

test('why names the nodes by which a release is halted, and who has halted it', async () => {
  expect((await run('why', 'b')).value).toMatchObject({
    nodes: [{ reason: 'RolloutHalted', halt: { version: '1.1.0', failed: [{ node: 'a', reason: 'BootFailed' }] } }],
  });
  await run('halt', '1.1.0');
  const at = rfc3339(stage.clock.now());
  await stage.pass();
  expect((await linesOf('why', 'b')).join('\n')).toContain(`RolloutHalted: people have halted 1.1.0 by ann, ${at}`);
});

test('releases whose list a proxy answers 404 are not taken for none, and those of a cluster without their definition are', async () => {
  const end = stage.cluster.disturb(
    { resource: RELEASE_PLURAL, verbs: ['list'] },
    { kind: 'refuse', code: 404, message: 'no such page' },
  );
  await expect(seenOn(stage)).rejects.toThrow('no such page');
  end();
  await stage.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${RELEASE_CRD_NAME}`);
  expect((await seenOn(stage)).snapshot.releases.objects).toEqual([]);
});

describe('halt and allow', () => {
  test('decide on a release, and say how to go back to what was decided before', async () => {
    const [said, undo] = await linesOf('allow', '1.1.0');
    expect(said).toBe(`${CALLED}: is allowed, failures do not halt it`);
    expect(patchIn(undo)).toEqual({ spec: { decision: 'Automatic' } });
    expect((await released())?.spec.decision).toBe('Allow');
    await stage.pass(5000);
    expect((await stage.specs('b', 'c')).filter((spec) => spec !== 'Idle')).toHaveLength(1);
    expect(await linesOf('halt', NAME)).toEqual([
      `${CALLED}: is halted, no node starts on it`,
      `  undo: kubectl brupop allow ${NAME}`,
    ]);
    expect((await linesOf('halt', 'v1.1.0'))[0]).toContain('(already so)');
  });

  test('halt makes an object for a version that no node knows yet, and no host starts on it once it is offered', async () => {
    expect(await linesOf('halt', '1.2.0')).toEqual([
      'release 1.2.0 (all families): is halted, no node starts on it',
      '  undo: kubectl delete brr 1.2.0.all',
    ]);
    await stage.report('b', { target_version: '1.2.0' });
    await stage.pass(10_000);
    expect(await stage.spec('b')).toBe('Idle');
    expect((await linesOf('releases', '1.2.0.all'))[0]).toMatch(/: Halted, by a person: halt/);
  });

  test('are shown with who decided so and when, and no longer once it was decided otherwise', async () => {
    const shown = async (): Promise<string | undefined> => (await linesOf('releases', NAME))[0];
    const at = rfc3339(stage.clock.now());
    await run('halt', '1.1.0');
    expect(await shown()).toContain(`Halted, by a person: halt by ann, ${at}`);
    expect((await run('releases', NAME)).value).toMatchObject({ releases: [{ decided: { by: 'ann', at } }] });
    await stage.patch(`${RELEASES_PATH}/${NAME}`, { spec: { decision: 'Allow' } });
    expect(await shown()).toMatch(/by a person: allow, offered/);
  });

  test('are shown with who has expedited them, besides who has decided on them, until they are expedited no more', async () => {
    const shown = async (): Promise<string | undefined> => (await linesOf('releases', NAME))[0];
    const at = rfc3339(stage.clock.now());
    await run('halt', '1.1.0');
    await run('expedite', '1.1.0');
    expect(await shown()).toContain(`by a person: halt by ann, ${at}, expedited (all nodes) by ann, ${at}`);
    const { value } = await run('releases', NAME);
    expect(value).toMatchObject({ releases: [{ expedited: { by: 'ann', at } }] });
    await stage.patch(`${RELEASES_PATH}/${NAME}`, { spec: { expediteFor: [] } });
    expect(await shown()).not.toContain('expedited');
  });

  test('name the release that may be meant, and write nothing', async () => {
    await expect(run('allow', '1.1.1')).rejects.toThrow(`there is no release 1.1.1: did you mean ${NAME}?`);
    await expect(run('halt', '1.1.o')).rejects.toThrow(`did you mean ${NAME}?`);
    expect(await releasesOf(stage.transport).list()).toHaveLength(1);
  });
});

describe('clear', () => {
  test('takes a failure back, so that others start, and neither this controller nor the next enters it again', async () => {
    const { uid } = (await stage.nodes.get('a'))!.metadata;
    const before = (await released())?.status?.failures?.[uid];
    const [said, undo] = await linesOf('clear', '1.1.0', 'a');
    expect(said).toBe(`${CALLED}: the failures of a are taken back`);
    expect(patchIn(undo)).toMatchObject({ status: { failures: { [uid]: before }, cleared: { [uid]: null } } });
    await stage.pass(10_000);
    expect((await released())?.status).toMatchObject({ failed: 0, cleared: { [uid]: { attempt: before?.attempt } } });
    expect((await stage.specs('b', 'c')).filter((spec) => spec !== 'Idle')).toHaveLength(1);
    expect(await linesOf('clear', '1.1.0')).toEqual([`${CALLED}: has no failure (already so)`]);
    expect(await linesOf('releases')).toContainEqual(expect.stringMatching(/^ {2}cleared: a by ann, \S+$/));
  });

  test('names who failed where a node is named that did not', async () => {
    await expect(run('clear', '1.1.0', 'a', 'b')).rejects.toThrow(
      'b: not failed on 1.1.0, on which a (BootFailed) failed',
    );
  });
});
