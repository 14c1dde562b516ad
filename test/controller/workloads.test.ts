import { afterEach, describe, expect, test } from '@jest/globals';
import type { PolicyObject } from '../../runtime/api/policy/model.ts';
import { POLICIES_PATH, RELEASES_PATH } from '../../runtime/api/resources.ts';
import type { Manager } from '../../runtime/controller/manager.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from './stage.ts';

/** What the apiserver says of a node's pods is told, and counts against the release where its policy wants that. */

let stage: Stage;
let controller: Manager;
afterEach(() => stage.end());

const MINUTE = 60_000;
const WORSE = '1 of 1 pods of DaemonSet kube-system/cni are not Ready on nodes of this version, 0 of 9 elsewhere';

async function begun(proof: object, more: object = {}): Promise<void> {
  stage = await Stage.with('a', 'b', 'c');
  await definePolicies(stage, {
    all: { nodeSelector: {}, maxConcurrent: 1, maxFailed: 1, proof: { nodes: 1, ...proof }, ...more },
  });
  await stage.pass(31_000);
  controller = stage.start();
  await stage.pass(MINUTE);
}

/** `a` has come to run the release. */
async function updatedA(proof: object): Promise<void> {
  await begun(proof);
  await stage.update('a');
  await stage.pass(10_000);
}

const saysWorse = async (worse: string | null): Promise<void> => {
  await stage.report('a', {
    workloads: worse === null ? null : { version: '1.1.0', since: '2026-01-01T00:00:00Z', worse },
  });
  await stage.pass(10_000);
};
/** By the metric that an alert asks for. */
const warned = async (): Promise<string | undefined> =>
  /^brupop_controller_workloads_warned (\d+)$/m.exec(await controller.metrics.registry.metrics())?.[1];
const shadowOf = async (name: string) => (await stage.shadows.get(`brs-${name}`))!;
const saidOf = async (name: string) => (await shadowOf(name)).status?.conditions?.[0];
const countsOf = async (policy: string) => {
  const { items } = await stage.list(POLICIES_PATH);
  return (items.find(({ metadata }) => metadata.name === policy) as PolicyObject | undefined)?.status?.nodes;
};
const ledger = async () => {
  const { items } = await stage.list(RELEASES_PATH);
  const own = items.find(({ spec }) => (spec as { version?: string }).version === '1.1.0');
  return own?.status as { failures?: object; state?: string } | undefined;
};

describe('a node that has come to run a release', () => {
  test('asks for looks for as long as the release may have to prove itself, and half an hour more', async () => {
    await updatedA({ soak: '1h' });
    const { compare_until } = (await shadowOf('a')).spec;
    const ms = Date.parse(compare_until ?? '') - stage.clock.now();
    expect([ms > 89 * MINUTE, ms <= 90 * MINUTE]).toEqual([true, true]);
  });

  test.each([
    ['without a soak', {}],
    ['once the release is proven', { soak: '1m' }],
  ])('asks for none %s', async (_, proof) => {
    await updatedA(proof);
    await stage.pass(10 * MINUTE);
    await stage.update('b');
    await stage.pass(10_000);
    expect((await shadowOf('b')).spec.compare_until ?? null).toBeNull();
  });
});

describe('worse pods', () => {
  test('are told, and hold nobody up, where the policy only warns', async () => {
    await updatedA({ soak: '30m' });
    await saysWorse(WORSE);
    expect(await saidOf('a')).toMatchObject({
      reason: 'UpToDate',
      message: expect.stringContaining(`WorkloadsWorse: ${WORSE}`),
    });
    expect([await warned(), (await ledger())?.failures ?? {}]).toEqual(['1', {}]);
    await stage.pass(31 * MINUTE);
    expect((await ledger())?.state).toBe('Proven');
    await saysWorse(null);
    expect(await warned()).toBe('0');
  });

  test('halt the release where the policy says so, within a moment, until they are well', async () => {
    await updatedA({ soak: '30m', compare: 'fail' });
    await saysWorse(WORSE);
    expect(await saidOf('a')).toMatchObject({ reason: 'WorkloadsWorse', message: WORSE });
    expect(Object.values((await ledger())?.failures ?? {})).toEqual([
      expect.objectContaining({ node: 'a', policy: 'all', reason: 'WorkloadsWorse' }),
    ]);
    expect([await warned(), await saidOf('b')]).toMatchObject(['0', { reason: 'RolloutHalted' }]);
    expect(await stage.events()).toContain('WorkloadsWorse');
    await stage.pass(60 * MINUTE);
    expect(await stage.permits()).toEqual([]);
    expect(await countsOf('all')).toMatchObject({ upToDate: 0, failed: 1 });
    await saysWorse(null);
    await stage.pass(60 * MINUTE);
    expect([(await ledger())?.failures ?? {}, (await saidOf('a'))?.reason]).toEqual([{}, 'UpToDate']);
  });

  test('that show while the node still has its permit do not keep it: once it is entered that they are, the next one tries', async () => {
    await begun({ soak: '30m', compare: 'fail' }, { maxFailed: 3, nodeSoak: '10m' });
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    await stage.pass();
    await stage.report('a', { current_state: 'MonitoringUpdate' });
    await saysWorse(WORSE);
    expect(await stage.permits()).toEqual(['brs-a']);
    await stage.pass(10 * MINUTE);
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(10_000);
    expect([await stage.permits(), await saidOf('a')]).toMatchObject([['brs-b'], { reason: 'WorkloadsWorse' }]);
    expect(Object.values((await ledger())?.failures ?? {})).toMatchObject([{ node: 'a', reason: 'WorkloadsWorse' }]);
  });

  test('of another version say nothing of the one that runs', async () => {
    await updatedA({ soak: '30m', compare: 'fail' });
    await stage.report('a', { workloads: { version: '1.0.0', since: '2026-01-01T00:00:00Z', worse: WORSE } });
    await stage.pass(10_000);
    expect(await saidOf('a')).toMatchObject({ reason: 'UpToDate' });
    expect((await ledger())?.failures ?? {}).toEqual({});
  });
});
