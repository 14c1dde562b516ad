import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readMarks } from '../../runtime/api/marks/marks.ts';
import { RELEASES_PATH } from '../../runtime/api/resources.ts';
import { RELEASE_API_VERSION, RELEASE_KIND } from '../../runtime/api/release/names.ts';
import {
  COMPONENT_LABEL,
  HOLD_ANNOTATION,
  NAME_LABEL,
  NAMESPACE,
  PAUSED_ANNOTATION,
} from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

/** A drain that the preflight refuses leaves its node in service, and must not keep a place from others for as long as a budget stands. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
});
afterEach(() => stage.end());

const MINUTE = 60_000;
const refused = (blocker = 'PodDisruptionBudget shop/web (pod shop/web-1)') => ({
  started_at: '2026-01-01T00:00:01Z',
  pods_left: 1,
  blocked_by: [blocker],
});

/** `a` is wanted in its reboot and is refused its drain. */
async function refuseA(): Promise<void> {
  await stage.pass();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.report('a', { drain: refused() });
  await stage.pass();
}

const saidOf = async (name: string): Promise<object | undefined> =>
  (await stage.shadows.get(`brs-${name}`))!.status?.conditions?.[0];

test('keeps its permit, and says why, for as long as nobody waits for it', async () => {
  await stage.report('b', { current_version: '1.1.0' });
  stage.start();
  await refuseA();
  await stage.pass(120 * MINUTE);
  expect([await stage.permits(), await stage.spec('a')]).toEqual([['brs-a'], 'RebootedIntoUpdate 1.1.0']);
  expect(await saidOf('a')).toMatchObject({
    reason: 'DrainBlocked',
    message: expect.stringContaining('PodDisruptionBudget shop/web'),
  });
});

describe('while another node waits', () => {
  test('is called off after two minutes, which is no failure, and its permit goes to the other', async () => {
    stage.start();
    await refuseA();
    await stage.pass(MINUTE);
    expect(await stage.specs('a', 'b')).toEqual(['RebootedIntoUpdate 1.1.0', 'Idle']);
    await stage.pass(MINUTE + 1000);
    expect(await stage.specs('a', 'b')).toEqual(['Idle 1.1.0', 'Idle']);
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(5000);
    expect([await stage.permits(), await stage.specs('a', 'b')]).toEqual([
      ['brs-b'],
      ['Idle 1.1.0', 'StagedAndPerformedUpdate 1.1.0'],
    ]);
    expect(await saidOf('a')).toMatchObject({ reason: 'DrainBlocked' });
    expect((await stage.shadows.get('brs-a'))!.status).toMatchObject({ crash_count: 0 });
    expect(await stage.events()).toEqual(expect.arrayContaining(['UpdateCalledOff']));
    expect(await stage.events()).not.toContain('UpdateFailed');
  });

  test('tries again after pauses that grow, and not once its drain has begun', async () => {
    stage.start();
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      await refuseA();
      await stage.pass(2 * MINUTE + 1000);
      expect(await stage.spec('a')).toBe('Idle 1.1.0');
      await stage.report('b', { current_version: '1.1.0' });
      await stage.report('a', { current_state: 'Idle', drain: null });
      const since = stage.clock.now();
      while ((await stage.spec('a')) === 'Idle 1.1.0') await stage.pass(10_000);
      pauses.push(Math.floor((stage.clock.now() - since) / MINUTE));
      await stage.report('b', { current_version: '1.0.0' });
    }
    expect(pauses).toEqual([2, 4, 8]);
  });
});

describe('is not called off where its drain begins', () => {
  const agent = async () => ({ nodeName: 'a', nodeUid: (await stage.nodes.get('a'))!.metadata.uid, bootId: 'boot-1' });

  /** Drains, as a budget was mended, right before the controller's request that fits. */
  async function drainBefore(fits: (path: string, method: string) => boolean): Promise<void> {
    const { service } = stage.apiserver({ preflight: 'refuse' });
    let begun = false;
    let dueAt = Infinity;
    const transport = intercepted(stage.transport, async (request, go) => {
      const { pathname } = new URL(request.path, 'http://x');
      if (!begun && stage.clock.now() >= dueAt && fits(pathname, request.method)) {
        begun = true;
        await service.cordonAndDrain(await agent());
      }
      return go();
    });
    stage.start({ transport });
    await refuseA();
    dueAt = stage.clock.now() + MINUTE;
    await stage.pass(3 * MINUTE);
    expect(begun).toBe(true);
  }

  test.each<[string, (path: string, method: string) => boolean]>([
    ['before the last look at the node', (path, method) => method === 'GET' && path === '/api/v1/nodes/a'],
    ['between that and the look at the shadow', (path, method) => method === 'GET' && path.endsWith('/brs-a')],
    ['between that and the write', (path, method) => method === 'PATCH' && path.endsWith('/brs-a')],
  ])('%s', async (_when, fits) => {
    await drainBefore(fits);
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
    expect(readMarks((await stage.nodes.get('a'))!)?.drained).toBeDefined();
    expect(await stage.permits()).toEqual(['brs-a']);
  });
});

describe('a machine that dies while its version is staged, which its agent never reports', () => {
  async function dies(): Promise<void> {
    await stage.pass();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.setReady('a', false);
    await stage.pass(31 * MINUTE);
  }

  test('is called off, gives its permit back, and its place an hour after it went down', async () => {
    stage.start();
    await dies();
    expect(await stage.spec('a')).toBe('Idle 1.1.0');
    await stage.pass(3 * MINUTE);
    expect(await stage.permits()).toEqual([]);
    await stage.pass(30 * MINUTE);
    expect([await stage.permits(), await stage.spec('b')]).toEqual([['brs-b'], 'StagedAndPerformedUpdate 1.1.0']);
  });
});

const HALT = {
  apiVersion: RELEASE_API_VERSION,
  kind: RELEASE_KIND,
  metadata: { name: 'bad' },
  spec: { family: 'aws-k8s-1.33/amd64', version: '1.1.0', decision: 'Halt' },
};

describe('a node that is told to drain, and is not answered yet', () => {
  const replica = (name: string, labels: object) =>
    stage.create(`/api/v1/namespaces/${NAMESPACE}/pods`, {
      metadata: { name, labels: { [COMPONENT_LABEL]: 'apiserver', ...labels } },
      spec: { containers: [{ name: 'apiserver', image: 'apiserver' }] },
    });
  const told = { [PAUSED_ANNOTATION]: '', [HOLD_ANNOTATION]: '' };

  describe.each<[string, () => Promise<unknown>]>([
    ['nobody has answered for half an hour, and others wait', () => stage.pass(31 * MINUTE)],
    [
      'the namespace is paused',
      () => stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: told } }),
    ],
    ['a person holds it', () => stage.patchNode('a', { metadata: { annotations: told } })],
    ['a person halts its release', () => stage.create(RELEASES_PATH, HALT)],
  ])('where %s', (_why, happens) => {
    test.each([
      ['is called off, as all replicas are ours', { [NAME_LABEL]: 'brupop' }, 'Idle 1.1.0'],
      ['goes on, as one is of the older operator', {}, 'RebootedIntoUpdate 1.1.0'],
    ])('%s', async (_what, labels, expected) => {
      await replica('ours', { [NAME_LABEL]: 'brupop' });
      await replica('other', labels);
      stage.start();
      await stage.pass();
      await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
      await stage.pass();
      await happens();
      await stage.pass(MINUTE);
      expect(await stage.spec('a')).toBe(expected);
    });
  });
});
