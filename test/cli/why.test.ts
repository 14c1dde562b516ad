import { afterEach, describe, expect, test } from '@jest/globals';
import { leftoverLines, leftoversIn } from '../../runtime/cli/commands/leftovers.ts';
import { unknownLines } from '../../runtime/cli/output/output.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { fleetLines, nodeLine, why } from '../../runtime/cli/commands/why.ts';
import { UnknownSettingsError } from '../../runtime/cli/deployed-settings.ts';
import type { Inspection } from '../../runtime/cli/inspect.ts';
import { GROUP, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { UNRELEASED_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { Stage } from '../controller/stage.ts';
import { deploy, deployContainer, requestOn, seenOn } from './deployed.ts';

let stage: Stage;
afterEach(() => stage.end());

const seen = (): Promise<Inspection> => seenOn(stage);

describe('a line for each node', () => {
  test('with the position in the queue, and the step of what runs', async () => {
    stage = await Stage.with('a', 'b', 'node-c');
    await deploy(stage);
    expect(fleetLines(await seen())).toEqual([
      'permits: 1 of 1 taken, by a (staging)',
      'a       Updating        the node is being updated to 1.1.0 (staging)',
      'b       WaitingForSlot  other nodes are being updated (position 1)',
      'node-c  WaitingForSlot  other nodes are being updated (position 2)',
    ]);
  });

  test('with a countdown', async () => {
    stage = await Stage.with('a', 'b');
    await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '* * 2 * * * *' });
    expect(nodeLine(await seen(), 'a')).toBe(
      'a  OutsideWindow  updates start again at 2026-01-01T02:00:00Z (in 1 h 59 min)',
    );
  });

  test('by the settings of the Deployment, the same as the controller gives', async () => {
    stage = await Stage.with('a', 'b', 'c');
    await deploy(stage, { MAX_CONCURRENT_UPDATE: '2' });
    const lines = fleetLines(await seen()).slice(1);
    expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(['Updating', 'Updating', 'WaitingForSlot']);
  });

  test('with what the API server has refused the controller', async () => {
    stage = await Stage.with('a', 'b');
    await stage.report('b', { target_version: '1.0.0' });
    const specs = { resource: 'bottlerocketshadows', where: (body: unknown) => 'spec' in (body as object) };
    stage.cluster.disturb(specs, { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'not on Fridays' });
    await deploy(stage);
    await stage.pass(100_000);
    expect(nodeLine(await seen(), 'a')).toBe(
      'a  WriteRefused  the start of its update is refused: 403 Forbidden: not on Fridays',
    );
  });

  test('and, for a node that is asked for by name, all that keeps it besides', async () => {
    stage = await Stage.with('a', 'b');
    await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '* * 2 * * * *' });
    await stage.patch('/api/v1/nodes/a', { metadata: { annotations: { [`${GROUP}/hold`]: '' } } });
    await stage.pass();
    const answer = await why.run(requestOn(stage, ['a']));
    expect(answer.lines(PLAIN).slice(1)).toEqual([
      'a  Held  the node bears the hold annotation',
      '  then OutsideWindow: updates start again at 2026-01-01T02:00:00Z',
      '  by its condition Held: the node bears the hold annotation, 3 s ago',
    ]);
  });

  test('under what concerns all of them', async () => {
    stage = await Stage.with('a');
    await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [`${GROUP}/paused`]: '' } } });
    await deploy(stage);
    expect((await fleetLinesNow()).slice(0, 2)).toEqual([
      'paused: the namespace bears the paused annotation',
      'warning: the only schedulable node of the cluster will be drained: nothing runs until it is back',
    ]);
  });

  test('an agent that is gone for too long is known from what the controller wrote', async () => {
    stage = await Stage.with('a', 'b');
    await deploy(stage, { AGENT_TIMEOUT_IN_SEC: '60' });
    await stage.loseAgent('b');
    await stage.pass(120_000);
    expect(nodeLine(await seen(), 'b')).toMatch(/^b {2}AgentSilent/);
    const answer = await why.run(requestOn(stage, ['a', 'b']));
    const section = expect.stringMatching(/docs\/operating\.md#a-node-does-not-update$/);
    expect(answer.lines(PLAIN).filter((line) => line.includes('http'))).toEqual([section]);
    expect(answer.value).toMatchObject({ nodes: [{ runbook: undefined }, { runbook: section }] });
  });

  const fleetLinesNow = async (): Promise<readonly string[]> => fleetLines(await seen());
});

describe('who takes the places that others wait for', () => {
  test('is a node that is not Ready and needs no update, and for how long', async () => {
    stage = await Stage.with('a', 'b', 'c');
    for (const name of ['a', 'c']) await stage.report(name, { current_version: '1.1.0' });
    await stage.setReady('a', false);
    await deploy(stage);
    await stage.pass(20 * 60_000);
    const now = await seen();
    expect(fleetLines(now).slice(0, -1)).toEqual([
      'permits: 1 of 1 taken, by a (not Ready, for 39 min 58 s more)',
      'a  UpToDate        the node runs the newest version that it is offered',
      'b  WaitingForSlot  nodes that are not Ready, or that others have out, take the permits (position 1)',
    ]);
    expect(nodeLine(now, 'b')).toBe(
      'b  WaitingForSlot  nodes that are not Ready, or that others have out, take the permits (position 1, permits: 1 of 1 taken, by a (not Ready, for 39 min 58 s more))',
    );
  });

  test('is a few by name, and how many more', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    stage = await Stage.with(...names);
    await deploy(stage, { MAX_CONCURRENT_UPDATE: '6' });
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    const drain = { started_at: '2026-01-01T00:00:01Z', pods_left: 1, blocked_by: ['a budget'] };
    await stage.report('a', { drain });
    const step = '(staging)';
    expect(fleetLines(await seen())[0]).toBe(
      `permits: 6 of 6 taken, by a (DrainBlocked), b ${step}, c ${step}, d ${step}, e ${step} and 1 more`,
    );
  });
});

describe('settings that are not written in the Deployment', () => {
  const envOf = (env: readonly object[], envFrom: readonly object[] = []): object => ({
    name: 'brupop',
    image: 'x',
    env,
    envFrom,
  });

  test('are named, and what is assumed of them', async () => {
    stage = await Stage.with('a');
    const named = { name: 'settings', key: 'concurrency' };
    const field = { name: 'MY_POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } };
    await deployContainer(
      stage,
      envOf(
        [
          field,
          { name: 'MAX_CONCURRENT_UPDATE', valueFrom: { configMapKeyRef: named } },
          { name: 'MAX_FAILED_UPDATE', valueFrom: { secretKeyRef: named } },
        ],
        [{ configMapRef: { name: 'more' } }, { secretRef: { name: 'most' } }],
      ),
    );
    const unread = [
      'not known: MAX_CONCURRENT_UPDATE, which ConfigMap settings sets: its default is assumed',
      'not known: MAX_FAILED_UPDATE, which Secret settings sets: its default is assumed',
      'not known: what ConfigMap more sets besides: defaults are assumed',
      'not known: what Secret most sets besides: defaults are assumed',
    ];
    expect(unknownLines((await seen()).unknown, PLAIN)).toEqual(unread);
    expect(fleetLines(await seen())).toEqual(expect.arrayContaining(unread));
  });

  test('are none where all of them are', async () => {
    stage = await Stage.with('a');
    await deploy(stage, { MAX_CONCURRENT_UPDATE: '2' });
    expect(unknownLines((await seen()).unknown, PLAIN)).toEqual([]);
  });
});

test('a node that is not managed, and one that is not there', async () => {
  stage = await Stage.with('a');
  await stage.create('/api/v1/nodes', { metadata: { name: 'other' } });
  await deploy(stage);
  expect(nodeLine(await seen(), 'other')).toMatch(/^other {2}is not managed/);
  expect(nodeLine(await seen(), 'nobody')).toBeUndefined();
});

test('without the Deployment nobody can say what the policy is', async () => {
  stage = await Stage.with('a');
  await expect(seen()).rejects.toThrow(UnknownSettingsError);
});

test('leftovers are marks and cordons where no update runs', async () => {
  stage = await Stage.with('a', 'b', 'c');
  await deploy(stage);
  // a is being updated; b's agent never came back, so nobody releases its marks yet; c was cordoned by somebody.
  await stage.mark('a');
  await stage.report('b', { current_version: '1.1.0' });
  // What a newer version, rolled back since, put on c cannot be undone by this one.
  const annotations = { [UNRELEASED_ANNOTATION]: 'shutdown-taint' };
  await stage.patch('/api/v1/nodes/c', { metadata: { annotations }, spec: { unschedulable: true } });
  await stage.pass();
  const { config, snapshot: idle } = await seen();
  const nodes = idle.nodes.map((node) =>
    node.name === 'b'
      ? { ...node, marks: { id: 'x', since: '2026-01-01T00:00:00Z', boot: null, owns: ['cordon', 'lb'] as const } }
      : node,
  );
  expect(
    leftoverLines(leftoversIn({ config, snapshot: { ...idle, nodes }, plan: { preferences: [], arrivals: [] } })),
  ).toEqual([
    'b  ours     cordon, lb, since 2026-01-01T00:00:00Z',
    'c  ours     shutdown-taint: a newer version knows how to undo it',
    "c  unknown  cordoned without marks: an administrator's, or an older apiserver's",
  ]);
});
