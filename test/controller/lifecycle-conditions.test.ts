import { afterEach, describe, expect, test } from '@jest/globals';
import { LIFECYCLE_REASON } from '../../runtime/controller/writing/lifecycle-conditions.ts';
import { viewOfNode } from '../../runtime/controller/seeing/views.ts';
import { NotFoundError } from '../../runtime/kube/errors.ts';
import type { Condition, Node } from '../../runtime/kube/objects.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { MANAGED_LABEL } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

/** Kubernetes' lifecycle conditions, on Nodes that others write too. */

const WRITTEN = { NODE_LIFECYCLE_CONDITIONS: 'written' };
const REMOVED = { NODE_LIFECYCLE_CONDITIONS: 'removed' };
const STRATEGIC = 'application/strategic-merge-patch+json';

let stage: Stage;
afterEach(() => stage.end());

const conditionsOf = async (node: string): Promise<readonly Condition[]> =>
  (await stage.nodes.get(node))?.status?.conditions ?? [];

/** All types that are on the node, and of ours those that are so. */
async function told(node = 'a'): Promise<{ readonly types: readonly string[]; readonly true: readonly string[] }> {
  const conditions = await conditionsOf(node);
  const isTold = ({ status, reason }: Condition): boolean => status === 'True' && reason === LIFECYCLE_REASON;
  return {
    types: conditions.map(({ type }) => type).toSorted(),
    true: conditions.filter(isTold).map(({ type }) => type),
  };
}

const ALL = ['DrainInProgress', 'Drained', 'MaintenanceInProgress', 'MaintenancePlanned', 'Ready'];

const say = (condition: Partial<Condition>): Promise<unknown> =>
  stage.transport.request({
    method: 'PATCH',
    path: '/api/v1/nodes/a/status',
    body: { status: { conditions: [condition] } },
    contentType: STRATEGIC,
  });

/** The transport of a controller, and how often it has written the status of each node. */
function counted() {
  const writes = new Map<string, number>();
  const transport = intercepted(stage.transport, ({ method, path }, go) => {
    const [, name] = /^\/api\/v1\/nodes\/([^/]+)\/status$/.exec(path) ?? [];
    if (method === 'PATCH' && name !== undefined) writes.set(name, (writes.get(name) ?? 0) + 1);
    return go();
  });
  return { transport, of: (node: string): number => writes.get(node) ?? 0 };
}

describe('a node', () => {
  test('says where its update is, from its beginning to its end, beside what its kubelet says', async () => {
    stage = await Stage.with('a');
    stage.start({ env: WRITTEN });
    await stage.pass(3000);
    expect(await told()).toEqual({ types: ALL, true: ['MaintenancePlanned'] });
    const reboot = { boot_id: 'boot-1', version: '1.1.0', requested_at: null };
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate', reboot });
    await stage.pass();
    await stage.mark('a');
    await stage.pass(3000);
    expect((await told()).true).toEqual(['MaintenancePlanned', 'DrainInProgress']);
    await stage.mark('a', { drained: true });
    await stage.pass(3000);
    expect((await told()).true).toEqual(['MaintenancePlanned', 'Drained']);
    await stage.report('a', { reboot: { ...reboot, requested_at: rfc3339(stage.clock.now()) } });
    await stage.pass(3000);
    expect((await told()).true.toSorted()).toEqual(['Drained', 'MaintenanceInProgress']);
    await stage.patchNode('a', { metadata: { annotations: { 'brupop.bottlerocket.aws/marks': null } } });
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0', reboot: null });
    await stage.pass(3000);
    expect(await told()).toEqual({ types: ALL, true: [] });
  });

  test('is written when that changes, and at no other time', async () => {
    stage = await Stage.with('a', 'b');
    const writes = counted();
    stage.start({ env: WRITTEN, transport: writes.transport });
    await stage.pass(5000);
    const before = writes.of('a') + writes.of('b');
    expect(before).toBeGreaterThanOrEqual(2);
    await stage.pass(600_000);
    expect(writes.of('a') + writes.of('b')).toBe(before);
  });

  test('says nothing by default', async () => {
    stage = await Stage.with('a');
    stage.start();
    await stage.pass(60_000);
    expect((await told()).types).toEqual(['Ready']);
  });

  test('says nothing of ours once that is to be removed, and what others say to the end', async () => {
    stage = await Stage.with('a');
    const first = new AbortController();
    stage.start({ env: WRITTEN, signal: first.signal });
    await stage.pass(3000);
    await say({ type: 'Drained', status: 'True', reason: 'AdminRequested' });
    first.abort(new Error('replaced'));
    await stage.pass(5000);
    stage.start({ env: REMOVED });
    await stage.pass(60_000);
    expect((await told()).types).toEqual(['Drained', 'Ready']);
  });

  test('says nothing of ours once it is not managed any more', async () => {
    stage = await Stage.with('a');
    await stage.report('a', { target_version: '1.0.0' });
    stage.start({ env: WRITTEN });
    await stage.pass(3000);
    expect((await told()).types).toEqual(ALL);
    await stage.patchNode('a', { metadata: { labels: { [MANAGED_LABEL]: null } } });
    await stage.pass(60_000);
    expect((await told()).types).toEqual(['Ready']);
  });

  test.each([null, { conditions: null }])('may have the status %j', (status) => {
    const node = { metadata: { name: 'a', uid: 'u', resourceVersion: '1' }, status } as unknown as Node;
    expect(viewOfNode(node).lifecycle).toBeUndefined();
  });
});

describe.each([403, 409])('where the API server answers each write of a status with %d', (code) => {
  const refuse = { kind: 'refuse', code, reason: 'Denied', message: 'not here' } as const;
  const statuses = { resource: 'nodes', subresource: 'status' } as const;

  test('the others are told, and that one is asked for ever more rarely', async () => {
    stage = await Stage.with('a', 'b');
    const end = stage.cluster.disturb({ ...statuses, name: 'a' }, refuse);
    const writes = counted();
    stage.start({ env: WRITTEN, transport: writes.transport });
    await stage.pass(10_000);
    expect([(await told('a')).types, (await told('b')).types]).toEqual([['Ready'], ALL]);
    await stage.pass(3_600_000);
    expect(writes.of('a')).toBeLessThan(40);
    end();
    await stage.pass(600_000);
    expect((await told('a')).types).toEqual(ALL);
  });

  test('for good, the rollout goes on', async () => {
    stage = await Stage.with('a', 'b');
    stage.cluster.disturb(statuses, refuse);
    stage.start({ env: WRITTEN });
    await stage.pass(3000);
    await stage.update('a');
    await stage.pass(3000);
    expect([await stage.spec('b'), (await told('b')).types]).toEqual(['StagedAndPerformedUpdate 1.1.0', ['Ready']]);
  });
});

test('a node that is deleted in between keeps nobody', async () => {
  stage = await Stage.with('a', 'b');
  const transport = intercepted(stage.transport, async (request, go) => {
    if (request.method === 'PATCH' && request.path === '/api/v1/nodes/a/status') {
      await stage.delete('/api/v1/nodes/a').catch((error: unknown) => {
        if (!(error instanceof NotFoundError)) throw error;
      });
    }
    return go();
  });
  stage.start({ env: WRITTEN, transport });
  await stage.pass(10_000);
  expect([await stage.nodes.get('a'), (await told('b')).types]).toEqual([undefined, ALL]);
});
