import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readModel } from '../../../runtime/cli/dashboard/model.ts';
import { Messages } from '../../../runtime/cli/dashboard/stream.ts';
import type { MessageBody } from '../../../runtime/cli/dashboard/wire.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { HOLD_ANNOTATION, NAMESPACE, shadowName } from '../../../runtime/api/shadow/names.ts';
import { Stage } from '../../controller/stage.ts';
import { deploy } from '../deployed.ts';
import { fail } from './scene.ts';

/** What a page is told of a fleet, after the first time. */

const NAMES = Array.from({ length: 30 }, (_, index) => `node-${String(index).padStart(2, '0')}`);
let stage: Stage;
let messages: Messages;
beforeEach(async () => {
  stage = await Stage.with(...NAMES);
  messages = new Messages();
  await deploy(stage);
  await looked();
});
afterEach(() => stage.end());

const now = (): number => stage.clock.now();
const looked = async (): Promise<MessageBody> =>
  messages.changed(await readModel({ transport: stage.transport, namespace: NAMESPACE }, now()), now());

test('nothing is told again of a fleet in which nothing happens, but when it was seen', async () => {
  await stage.pass(30_000);
  const { sections, ...rest } = await looked();
  expect(rest).toEqual({ at: now(), nodes: [], gone: [] });
  // What is foreseen moves on with the clock, for nobody goes on here.
  expect(Object.keys(sections).filter((name) => !['queue', 'timeline'].includes(name))).toEqual([]);
});

test('when a node goes on it alone is told of, and not the others that move up behind it', async () => {
  await stage.update('node-00');
  const { nodes, gone } = await looked();
  expect(nodes.map(({ name }) => name)).toEqual(['node-00', 'node-01']);
  expect(nodes).toMatchObject([
    { standing: 'upToDate', runs: '1.1.0' },
    { standing: 'updating', step: 'staging' },
  ]);
  expect(gone).toEqual([]);
});

test('a drain that goes on is told with what blocks it, and a failure with its words', async () => {
  await stage.report('node-00', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  const drain = { started_at: '2026-01-01T00:00:00Z', pods_left: 2, blocked_by: ['a budget'] };
  await stage.report('node-00', { drain });
  expect((await looked()).nodes).toMatchObject([
    { name: 'node-00', step: 'draining', drain: { blockedBy: ['a budget'] } },
  ]);
  const time = '2026-01-01T00:00:05Z';
  const failure = { state: 'RebootedIntoUpdate', reason: 'BootFailed', message: 'no', version: '1.1.0', time } as const;
  await stage.report('node-00', { current_state: 'ErrorReset', crash_count: 2, last_failure: failure });
  await stage.pass();
  const [row] = (await looked()).nodes;
  expect(row).toMatchObject({ name: 'node-00', failure: { text: 'BootFailed: no', times: 2 } });
});

test('explicit nulls of the cluster are nothing that is known', async () => {
  const nulls = { last_failure: null, failed_versions: null, conditions: null, drain: null, reboot: null };
  await stage.shadows.patchStatus(shadowName('node-07'), { status: nulls });
  await looked();
  expect(messages.whole.nodes.find(({ name }) => name === 'node-07')).toMatchObject({ standing: 'waiting' });
});

test('of Events only those of the operator are read, however many others there are', async () => {
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'web-1' };
  const by = { reportingComponent: 'kubelet', source: { component: 'kubelet' }, type: 'Normal' };
  for (const name of ['one', 'two']) {
    const event = { metadata: { name, namespace: 'default' }, involvedObject, reason: 'Pulled', message: 'x', ...by };
    await stage.create('/api/v1/namespaces/default/events', event);
  }
  const read: (string | undefined)[] = [];
  const transport: KubeTransport = {
    async request(request) {
      const answer = await stage.transport.request(request);
      const { items = [] } = answer as { items?: { reportingComponent?: string }[] };
      if (request.path.endsWith('/events')) read.push(...items.map((event) => event.reportingComponent));
      return answer;
    },
    watch: (watch) => stage.transport.watch(watch),
  };
  const { sections } = await readModel({ transport, namespace: NAMESPACE }, now());
  expect(sections.events.map(({ reason }) => reason)).toContain('UpdateStarted');
  expect(new Set(read)).toEqual(new Set(['brupop-controller']));
});

test('the timeline says how much of the rollout it leaves out', async () => {
  for (const name of NAMES.slice(0, 20)) await stage.update(name);
  const { bars, leftOut } = (await readModel({ transport: stage.transport, namespace: NAMESPACE }, now())).sections
    .timeline;
  expect(Map.groupBy(bars, ({ kind }) => kind).get('done')).toHaveLength(16);
  expect(leftOut).toEqual({ past: 4, running: 0, waiting: 0 });
});

test('an attempt that failed is as long as it was, from its start to its failure', async () => {
  const began = now();
  await stage.report('node-00', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass(600_000);
  await fail(stage, 'node-00');
  const failed = now();
  await stage.pass();
  await stage.report('node-00', { current_state: 'Idle' });
  await stage.pass();
  const { bars } = (await readModel({ transport: stage.transport, namespace: NAMESPACE }, now())).sections.timeline;
  const bar = bars.find(({ kind }) => kind === 'failed');
  expect(bar).toMatchObject({ node: 'node-00', to: failed });
  expect(bar?.from).toBeLessThanOrEqual(began);
  expect(failed - (bar?.from ?? failed)).toBeGreaterThanOrEqual(600_000);
});

test('while a release is halted nobody is foreseen to start on it, and its commands are for the cluster that is shown', async () => {
  await stage.end();
  stage = await Stage.with('a', 'b', 'c');
  await deploy(stage, { MAX_FAILED_UPDATE: '1' });
  await fail(stage, 'a');
  await stage.pass();
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass();
  const here = (command: string): string => `${command} --context it`;
  const read = () => readModel({ transport: stage.transport, namespace: NAMESPACE }, now(), here);
  const { fleet, queue, timeline } = (await read()).sections;
  expect(fleet.needsYou[0]).toMatchObject({
    title: 'Release halted',
    remedy: expect.stringContaining('kubectl brupop clear 1.1.0 --context it;'),
    commands: [
      'kubectl brupop releases --context it',
      'kubectl brupop clear 1.1.0 --context it',
      'kubectl brupop allow 1.1.0 --context it',
    ],
  });
  expect(fleet.flags).toBe('--context it');
  expect([queue.next, timeline.bars.filter(({ kind }) => kind === 'next')]).toEqual([[], []]);
});

test('who comes next is told with the version that it leaves', async () => {
  const { queue } = (await readModel({ transport: stage.transport, namespace: NAMESPACE }, now())).sections;
  expect(queue.next[0]).toMatchObject({ runs: '1.0.0', version: '1.1.0' });
});

test('nodes that wait are left out, however many that failed are about to try again', async () => {
  const hold = { metadata: { annotations: { [HOLD_ANNOTATION]: 'ann' } } };
  for (const name of NAMES.slice(1)) await stage.patchNode(name, hold);
  await fail(stage, 'node-00');
  await stage.pass();
  await stage.report('node-00', { current_state: 'Idle' });
  await stage.pass();
  const { timeline } = (await readModel({ transport: stage.transport, namespace: NAMESPACE }, now())).sections;
  expect(timeline.bars).toContainEqual(expect.objectContaining({ kind: 'next', node: 'node-00' }));
  expect(timeline.leftOut.waiting).toBe(29);
});
