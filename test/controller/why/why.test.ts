import { afterEach, describe, expect, test } from '@jest/globals';
import { fleetLines, leftoverLines, nodeLine } from '../../../runtime/controller/why/lines.ts';
import { type Look, look, UnknownPolicyError } from '../../../runtime/controller/why/look.ts';
import { cordonPatch } from '../../../runtime/marks/patches.ts';
import { CONTROLLER_DEPLOYMENT, GROUP, NAMESPACE } from '../../../runtime/shadow/names.ts';
import { leaseWithRoomFor } from '../room.ts';
import { UNRELEASED_ANNOTATION } from '../../../runtime/marks/names.ts';
import { Stage } from '../stage.ts';

let stage: Stage;
afterEach(() => stage.end());

/** A controller's Deployment that says `env`, and the same controller at work. */
async function deploy(env: Readonly<Record<string, string>> = {}): Promise<void> {
  const container = { name: 'brupop', image: 'x', env: Object.entries(env).map(([name, value]) => ({ name, value })) };
  const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [container] } };
  await stage.create(`/apis/apps/v1/namespaces/${NAMESPACE}/deployments`, {
    metadata: { name: CONTROLLER_DEPLOYMENT },
    spec: { selector: { matchLabels: { app: 'x' } }, template },
  });
  stage.start({ env });
  await stage.pass();
}

const seen = (): Promise<Look> => look({ transport: stage.transport, namespace: NAMESPACE }, stage.clock.now());

async function mark(name: string): Promise<void> {
  const attempt = { id: 'drain-1', now: '2026-01-01T00:00:00Z', boot: 'boot-1' };
  const { metadata, ...rest } = cordonPatch((await stage.nodes.get(name))!, attempt)!;
  await stage.nodes.patch(name, { metadata, ...rest });
}

describe('a line for each node', () => {
  test('with the position in the queue, and the step of what runs', async () => {
    stage = await Stage.with('a', 'b', 'node-c');
    await deploy();
    expect(fleetLines(await seen())).toEqual([
      'a       Updating        the node is being updated to 1.1.0 (StagedAndPerformedUpdate)',
      'b       WaitingForSlot  other nodes are being updated (position 1)',
      'node-c  WaitingForSlot  other nodes are being updated (position 2)',
    ]);
  });

  test('with a countdown', async () => {
    stage = await Stage.with('a', 'b');
    await deploy({ SCHEDULER_CRON_EXPRESSION: '* * 2 * * * *' });
    expect(nodeLine(await seen(), 'a')).toBe(
      'a  OutsideWindow  updates start again at 2026-01-01T02:00:00Z (in 1 h 59 min)',
    );
  });

  test('by the settings of the Deployment, the same as the controller gives', async () => {
    stage = await Stage.with('a', 'b', 'c');
    await deploy({ MAX_CONCURRENT_UPDATE: '2' });
    const lines = fleetLines(await seen());
    expect(lines.map((line) => line.split(/\s+/)[1])).toEqual(['Updating', 'Updating', 'WaitingForSlot']);
  });

  test('by the room that the Lease has left, as the controller reckons', async () => {
    stage = await Stage.with('a', 'b', 'c');
    await leaseWithRoomFor(stage, 1);
    await deploy({ MAX_CONCURRENT_UPDATE: 'unlimited' });
    expect(fleetLines(await seen())).toEqual([
      'a  Updating        the node is being updated to 1.1.0 (StagedAndPerformedUpdate)',
      'b  WaitingForSlot  the list of slots on the Lease is full (position 1)',
      'c  WaitingForSlot  the list of slots on the Lease is full (position 2)',
    ]);
  });

  test('under what concerns all of them', async () => {
    stage = await Stage.with('a');
    await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [`${GROUP}/paused`]: '' } } });
    await deploy();
    expect((await fleetLinesNow()).slice(0, 2)).toEqual([
      'paused: the namespace bears the paused annotation',
      'warning: the only schedulable node of the cluster will be drained: nothing runs until it is back',
    ]);
  });

  test('an agent that is gone for too long is known from what the controller wrote', async () => {
    stage = await Stage.with('a', 'b');
    await deploy({ AGENT_TIMEOUT_IN_SEC: '60' });
    await stage.loseAgent('b');
    await stage.pass(120_000);
    expect(nodeLine(await seen(), 'b')).toMatch(/^b {2}AgentSilent/);
  });

  const fleetLinesNow = async (): Promise<readonly string[]> => fleetLines(await seen());
});

test('a node that is not managed, and one that is not there', async () => {
  stage = await Stage.with('a');
  await stage.create('/api/v1/nodes', { metadata: { name: 'other' } });
  await deploy();
  expect(nodeLine(await seen(), 'other')).toMatch(/^other {2}is not managed/);
  expect(nodeLine(await seen(), 'nobody')).toBeUndefined();
});

test('without the Deployment nobody can say what the policy is', async () => {
  stage = await Stage.with('a');
  await expect(seen()).rejects.toThrow(UnknownPolicyError);
});

test('leftovers are marks and cordons where no update runs', async () => {
  stage = await Stage.with('a', 'b', 'c');
  await deploy();
  // a is being updated; b's agent never came back, so nobody releases its marks yet; c was cordoned by somebody.
  await mark('a');
  await stage.report('b', { current_version: '1.1.0' });
  // What a newer version, rolled back since, put on c cannot be undone by this one.
  const annotations = { [UNRELEASED_ANNOTATION]: 'shutdown-taint' };
  await stage.patch('/api/v1/nodes/c', { metadata: { annotations }, spec: { unschedulable: true } });
  await stage.pass();
  const idle = (await seen()).snapshot;
  const nodes = idle.nodes.map((node) =>
    node.name === 'b'
      ? { ...node, marks: { id: 'x', since: '2026-01-01T00:00:00Z', boot: null, owns: ['cordon', 'lb'] as const } }
      : node,
  );
  expect(leftoverLines({ ...(await seen()), snapshot: { ...idle, nodes } })).toEqual([
    'b  ours     cordon, lb, since 2026-01-01T00:00:00Z',
    'c  ours     shutdown-taint: a newer version knows how to undo it',
    "c  unknown  cordoned without marks: an administrator's, or an older apiserver's",
  ]);
});
