import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/lib/clock.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { POLICIES_PATH } from '../../runtime/api/resources.ts';
import { WAITING_TAINT } from '../../runtime/api/marks/taints.ts';
import {
  CONTROLLER_LEASE,
  HOLD_ANNOTATION,
  NAMESPACE,
  PAUSED_ANNOTATION,
  UPDATE_NOW_ANNOTATION,
} from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { definePolicies } from '../policies.ts';
import { deploy } from './deployed.ts';
import { Reached } from './served.ts';

/** What people tell the operator by `kubectl brupop`, with a controller at work. */

let stage: Stage;
let reached: Reached;

/** A window that is shut for the rest of the day, so that nothing starts by itself. */
const SHUT = { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' };

async function fleet(env: Readonly<Record<string, string>> = {}): Promise<void> {
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - 60_000, 'a', 'b');
  await deploy(stage, env);
  reached = await Reached.of(stage.cluster);
}

beforeEach(() => fleet(SHUT));
afterEach(async () => {
  await reached.close();
  await stage.end();
});

interface Deeds {
  readonly dryRun: boolean;
  readonly done: readonly { readonly object: string; readonly changed: boolean; readonly undo?: string }[];
}

const annotationsOf = async (node: string): Promise<Readonly<Record<string, string>>> =>
  (await stage.nodes.get(node))!.metadata.annotations ?? {};

describe('hold and unhold', () => {
  test('take labels instead of names', async () => {
    await stage.patch('/api/v1/nodes/b', { metadata: { labels: { pool: 'db' } } });
    expect((await reached.json<Deeds>('hold', '-l', 'pool=db')).done).toMatchObject([{ object: 'node b' }]);
    expect(await annotationsOf('a')).not.toHaveProperty([HOLD_ANNOTATION]);
    const nobody = { code: 1, err: 'no node has the labels pool=none\n' };
    expect(await reached.run('hold', '-l', 'pool=none')).toMatchObject(nobody);
    expect(await reached.run('hold', 'a', '-l', 'pool=db')).toMatchObject({ code: 2 });
  });

  test('say what they did and how to undo it, write who asked, and the second time nothing', async () => {
    const { code, out } = await reached.run('hold', 'a', '--by', 'ann: kernel bug');
    expect({ code, out }).toEqual({
      code: 0,
      out: 'node a: is held, no update starts there\n  undo: kubectl brupop unhold a\n',
    });
    expect(await annotationsOf('a')).toMatchObject({
      [HOLD_ANNOTATION]: expect.stringMatching(/^20\S+Z ann: kernel bug$/),
    });
    const again = await reached.json<Deeds>('hold', 'a', '--by', 'bob');
    expect(again.done).toMatchObject([{ object: 'node a', changed: false }]);
    expect(await annotationsOf('a')).toMatchObject({
      [HOLD_ANNOTATION]: expect.stringMatching(/^20\S+Z ann: kernel bug$/),
    });
    expect((await reached.json<Deeds>('unhold', 'a')).done).toMatchObject([{ changed: true }]);
    expect(await annotationsOf('a')).not.toHaveProperty([HOLD_ANNOTATION]);
  });

  test('what cannot be done to one node does not keep it from the others, and ends with 1', async () => {
    const { code, out } = await reached.run('hold', 'nobody', 'b');
    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringMatching(/^node b: .*\n.*\nnode nobody: .* no node nobody$/m),
    });
    expect(await annotationsOf('b')).toHaveProperty([HOLD_ANNOTATION]);
  });

  test('with --dry-run the API server looks at it, and nothing is written', async () => {
    const { code, out } = await reached.run('hold', 'a', '--dry-run');
    expect(code).toBe(0);
    expect(out).toContain('Nothing was written');
    expect(await annotationsOf('a')).not.toHaveProperty([HOLD_ANNOTATION]);
    stage.cluster.disturb(
      { resource: 'nodes' },
      { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'nodes is forbidden' },
    );
    expect(await reached.run('hold', 'a', '--dry-run')).toMatchObject({ code: 1, out: '' });
  });

  test('a right that lacks for all nodes, or for one, is named once, with whom to ask for it', async () => {
    const forbidden = { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'nodes is forbidden' } as const;
    const role = /^Ask for the ClusterRole brupop-view to read, or brupop-operate to change things as well\.$/gm;
    const allowed = stage.cluster.disturb({ resource: 'nodes' }, forbidden);
    const none = await reached.run('hold', 'a', 'b');
    expect(none).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^node a: you may not do that \(403\): .*\nnode b: you may not do that \(403\): .*\n/),
    });
    expect(none.err.match(role)).toHaveLength(1);
    allowed();
    stage.cluster.disturb({ resource: 'nodes', name: 'a' }, forbidden);
    const some = await reached.run('hold', 'a', 'b');
    expect(some).toMatchObject({ code: 1, err: '' });
    expect(some.out.match(role)).toHaveLength(1);
  });

  test('what a webhook of the cluster denies, which also answers 403, is no matter of roles', async () => {
    const message = 'admission webhook "freeze.example.com" denied the request: not in December';
    stage.cluster.disturb({ resource: 'nodes' }, { kind: 'refuse', code: 403, reason: 'Forbidden', message });
    const { err } = await reached.run('hold', 'a');
    expect(err).toBe(`node a: the cluster does not allow that (403): ${message}\n`);
  });

  test('without a node they do nothing', async () => {
    expect((await reached.run('hold')).code).toBe(2);
  });
});

test('pause and resume stop and start the fleet, and a policy by its name', async () => {
  await definePolicies(stage, { all: { nodeSelector: {}, windows: [] } });
  const home = async () =>
    (await stage.get(`/api/v1/namespaces/${NAMESPACE}`)) as {
      metadata: { annotations?: object };
    };
  const policy = () => stage.get(`${POLICIES_PATH}/all`);
  expect((await reached.run('pause', '--by', 'ann')).out).toBe(
    'the fleet: is paused, no update starts\n  undo: kubectl brupop resume\n',
  );
  expect((await home()).metadata.annotations).toMatchObject({
    [PAUSED_ANNOTATION]: expect.stringMatching(/^20\S+Z ann$/),
  });
  expect((await reached.run('resume')).out).toContain('is not paused');
  expect((await home()).metadata.annotations ?? {}).not.toHaveProperty([PAUSED_ANNOTATION]);
  expect((await reached.json<Deeds>('pause', 'all')).done).toMatchObject([
    { object: 'policy all', changed: true, undo: 'kubectl brupop resume all' },
  ]);
  expect(await policy()).toMatchObject({ spec: { paused: true } });
  await reached.run('resume', 'all');
  expect(await policy()).toMatchObject({ spec: { paused: false, nodeSelector: {} } });
  expect(await reached.run('pause', 'none')).toMatchObject({ code: 1, err: expect.stringContaining('no policy none') });

  const managedFields = ['kustomize-controller', 'kubectl-brupop'].map((manager) => ({
    manager,
    operation: 'Apply',
    apiVersion: 'brupop.bottlerocket.aws/v1alpha1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:spec': { 'f:paused': {} } },
  }));
  await stage.patch(`${POLICIES_PATH}/all`, { metadata: { managedFields } });
  expect((await reached.run('pause', 'all')).out).toContain(
    'is paused, no update starts under it, until kustomize-controller applies its spec.paused again\n',
  );
});

describe('now', () => {
  test('starts a node outside of its window, and the request goes', async () => {
    const { code, out } = await reached.run('now', 'b', '--by', 'ann');
    expect({ code, out }).toEqual({
      code: 0,
      out: `node b: comes next to be updated to 1.1.0\n  undo: kubectl annotate node b ${UPDATE_NOW_ANNOTATION}-\n`,
    });
    await stage.pass(2000);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
    expect(await annotationsOf('b')).not.toHaveProperty([UPDATE_NOW_ANNOTATION]);
    expect((await reached.run('now', 'b')).out).toBe('node b: is being updated already (already so)\n');
  });

  test('says what it does not change, and refuses where there is nothing to update', async () => {
    await reached.run('hold', 'a');
    expect((await reached.run('now', 'a')).out).toContain('until then: held by somebody, 20');
    await stage.report('b', { target_version: '1.0.0' });
    const none = await reached.run('now', 'b');
    expect(none).toMatchObject({ code: 1, err: expect.stringMatching(/^node b: there is no update to begin: .*\n$/) });
    expect(await annotationsOf('b')).not.toHaveProperty([UPDATE_NOW_ANNOTATION]);
  });
});

test('retry ends the pause after a failure, and refuses where there is none', async () => {
  expect(await reached.run('retry', 'a')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^node a: the node does not pause after a failure: OutsideWindow/),
  });
  const at = new Date(stage.clock.now()).toISOString();
  await stage.report('a', { crash_count: 6, failed_versions: [], state_transition_failure_timestamp: at });
  await stage.pass();
  expect((await reached.run('now', 'a')).out).toContain('(retry ends that)');
  expect((await reached.run('retry', 'a')).out).toContain(`pauses no longer after its failure of ${at}`);
  await stage.pass(2000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

describe('cleanup', () => {
  beforeEach(async () => {
    await reached.close();
    await stage.end();
    // The controller is gone, so that nobody else undoes anything.
    stage = await Stage.at(systemClock.now() - 60_000, 'a', 'b');
    const stopped = new AbortController();
    await deploy(stage, SHUT, stopped.signal);
    stopped.abort();
    await stage.pass(5000);
    reached = await Reached.of(stage.cluster);
  });

  test('undoes what leftovers shows as ours', async () => {
    await stage.mark('a');
    expect((await reached.run('leftovers')).out).toMatch(/^a +ours +cordon/);
    expect((await reached.run('cleanup', 'a')).out).toBe(
      'node a: is cleaned up: cordon undone\n  undo: kubectl cordon a\n',
    );
    expect((await reached.run('leftovers')).out).toBe('');
    expect((await stage.nodes.get('a'))?.spec?.unschedulable).toBeUndefined();
    expect((await reached.run('release', 'a')).out).toContain('has nothing of the operator on it');
  });

  test('takes away the taint of a node that waits no more, and leaves those of others', async () => {
    const other = { key: 'example.com/gpu', effect: 'NoSchedule' };
    await stage.patchNode('a', { spec: { taints: [other, WAITING_TAINT] } });
    expect((await reached.run('leftovers')).out).toMatch(/^a +ours +taint brupop/);
    expect((await reached.run('cleanup', 'a')).out).toBe(`node a: is cleaned up: taint ${WAITING_TAINT.key} undone\n`);
    expect((await stage.nodes.get('a'))?.spec?.taints).toEqual([other]);
    expect((await reached.run('leftovers')).out).toBe('');
  });

  test('says what is meant by release and a version', async () => {
    const { code, err } = await reached.run('release', '1.1.0');
    expect({ code, err }).toEqual({
      code: 1,
      err: 'node 1.1.0: that is a version, and no node of the cluster: did you mean kubectl brupop releases, halt, allow or clear 1.1.0?\n',
    });
  });

  test('leaves alone a node that is being updated, and a cordon of somebody else', async () => {
    await stage.mark('a');
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.patch('/api/v1/nodes/b', { spec: { unschedulable: true } });
    const { code, err } = await reached.run('release', 'a', 'b');
    expect(code).toBe(1);
    expect(err).toBe(
      'node a: it is being updated: why says more\nnode b: it is cordoned without marks, by whom nobody can tell: kubectl uncordon b\n',
    );
    expect((await stage.nodes.get('a'))?.spec?.unschedulable).toBe(true);
  });

  test('leaves alone a node whose shadow is at rest, and which the Lease names: its update has just been permitted', async () => {
    await stage.mark('a');
    const { uid } = (await stage.nodes.get('a'))!.metadata;
    const lease = (await stage.leases.get(CONTROLLER_LEASE))!;
    const permits = JSON.stringify([{ shadow: 'brs-a', nodeUid: uid }]);
    const annotations = { ...lease.metadata.annotations, [PERMITS_ANNOTATION]: permits };
    await stage.leases.update({ ...lease, metadata: { ...lease.metadata, annotations } });
    expect(await reached.run('release', 'a')).toMatchObject({ code: 1, err: expect.stringContaining('being updated') });
    expect((await stage.nodes.get('a'))?.spec?.unschedulable).toBe(true);
  });
});
