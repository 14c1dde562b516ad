import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Halted } from '../../runtime/controller/plan/releases/os-release.ts';
import { haltedRemedy, haltedText } from '../../runtime/cli/halted.ts';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { forecastFrom } from '../../runtime/cli/forecast/forecast.ts';
import { RELEASES_PATH, releasesOf } from '../../runtime/api/resources.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { LAST_UPDATE_ANNOTATION, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { deployHalted, seenOn } from './deployed.ts';
import { Reached } from './served.ts';

/** Node a has failed on 1.1.0, by which it is halted; b and c wait. */

let stage: Stage;
let reached: Reached;
beforeEach(async () => {
  stage = await Stage.at(systemClock.now() - 60_000, 'a', 'b', 'c');
  await deployHalted(stage);
  reached = await Reached.of(stage.cluster);
});
afterEach(async () => {
  await reached.close();
  await stage.end();
});

async function decide(decision: 'Halt' | 'Allow'): Promise<void> {
  const [release] = await releasesOf(stage.transport).list();
  await stage.patch(`${RELEASES_PATH}/${release!.metadata.name}`, { spec: { decision } });
  await stage.pass(5000);
}

const CALLED = '1.1.0 (aws-k8s-1.33/amd64) is halted';
const WHY = `${CALLED}: too many nodes failed on it (1 may): a BootFailed (running 1.0.0).`;
const flat = (out: string): string => out.replaceAll(/\s+/g, ' ');

test.each(['status', 'why', 'why b', 'plan', 'plan --until-done'])(
  '%s begins with the nodes that failed, how many may, who goes on and what ends it',
  async (command) => {
    const { code, out } = await reached.run(...command.split(' '), '-n', NAMESPACE);
    expect({ code, out: flat(out) }).toEqual({ code: 0, out: expect.stringMatching(/^NEEDS YOU:? 1\.1\.0/) });
    expect(flat(out)).toContain(
      `${WHY} Nodes that failed may try again, and those whose drain has begun go on. ` +
        `Where the nodes were at fault: kubectl brupop clear 1.1.0 -n ${NAMESPACE}; ` +
        `to start others all the same: kubectl brupop allow 1.1.0 -n ${NAMESPACE}.`,
    );
  },
);

test.each(['status', 'why', 'plan', 'plan --until-done'])('the JSON of %s names them', async (command) => {
  expect(await reached.json(...command.split(' '))).toMatchObject({
    halted: [
      { version: '1.1.0', failures: 1, mayFail: 1, failed: [{ node: 'a', reason: 'BootFailed', runs: '1.0.0' }] },
    ],
  });
});

test.each([
  ['Rollback', 'people take nodes back from it by ann, 1', 'allow 1.1.0 lets others start, and takes none back'],
  [
    'Check',
    'a check of its policy failed on it: check smoke CheckFailed',
    'To ask the check again: kubectl brupop clear',
  ],
] as const)('a halt by %s is none by nodes, and ends otherwise', (because, why, remedy) => {
  const decided = because === 'Rollback' ? { by: 'ann', at: '1' } : undefined;
  const failed = [{ node: 'check smoke', reason: 'CheckFailed', at: '' }] as const;
  const one: Halted = { version: '1.1.0', family: 'f', because, decided, failures: 1, failed };
  expect(haltedText(one)).toBe(`1.1.0 (f) is halted: ${why}`);
  expect(haltedRemedy(one)).toContain(remedy);
});

test('the page names them', async () => {
  const { sections } = await readModel({ transport: stage.transport, namespace: NAMESPACE }, systemClock.now());
  expect(sections.fleet.needsYou).toMatchObject([{ title: 'Release halted', text: WHY.slice(0, -1), nodes: [] }]);
});

test('nodes that it keeps wait, and are not said to need somebody', async () => {
  const { needsYou, waiting } = await reached.json<Record<string, object[]>>('status');
  expect(needsYou).toEqual([]);
  expect(waiting).toContainEqual(expect.objectContaining({ reason: 'RolloutHalted', nodes: ['b', 'c'] }));
});

test('nothing is promised that the halt keeps, nor that the node that failed will succeed', async () => {
  const { starts, left } = forecastFrom(await seenOn(stage));
  expect(starts).toEqual([]);
  expect(left.map(({ node, reason }) => `${node} ${reason}`)).toEqual([
    'a BackingOff',
    'b RolloutHalted',
    'c RolloutHalted',
  ]);
});

test.each(['status', 'why b'])('%s says who has halted it, why, and how to let it go on', async (command) => {
  await reached.run('halt', '1.1.0', '--by', 'ann: kernel bug');
  await stage.pass(5000);
  const { out } = await reached.run(...command.split(' '));
  expect(flat(out)).toMatch(
    /is halted: people have halted it by ann: kernel bug, \S+\. Nodes whose drain has begun go on\. kubectl brupop allow 1\.1\.0 lets others start\./,
  );
});

test('the page says what people have decided, also on releases that nobody is offered yet', async () => {
  const page = () => readModel({ transport: stage.transport, namespace: NAMESPACE }, systemClock.now());
  expect((await page()).sections.fleet.decided).toEqual([]);
  await reached.run('halt', '1.2.0');
  await decide('Allow');
  expect((await page()).sections.fleet.decided).toEqual([
    '1.1.0 (aws-k8s-1.33/amd64): people let it go on',
    expect.stringMatching(/^1\.2\.0: people have halted it by /),
  ]);
});

describe('a node that is away for its reboot', () => {
  const forecast = async () => forecastFrom(await seenOn(stage));
  test('is foretold to come back, and one that was lost is not', async () => {
    for (const name of ['b', 'c'])
      await stage.shadows.patch(shadowName(name), { metadata: { annotations: { [LAST_UPDATE_ANNOTATION]: '120' } } });
    await decide('Allow');
    await stage.askForReboot('b');
    await stage.setReady('b', false);
    await stage.pass(30_000);
    const soon = await forecast();
    expect(soon.left.map(({ node }) => node)).not.toContain('b');
    expect(soon.starts.map(({ node }) => node)).toContain('c');
    await stage.pass(3_600_000);
    expect((await forecast()).left).toContainEqual(expect.objectContaining({ node: 'b', reason: 'NotReturned' }));
  });
});
