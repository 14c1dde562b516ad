import { afterEach, describe, expect, test } from '@jest/globals';
import { ConflictError, UnreachableError } from '../../runtime/kube/errors.ts';
import { releasesOf } from '../../runtime/api/resources.ts';
import { NODES_PATH } from '../../runtime/kube/resources.ts';
import { cordonPatch } from '../../runtime/api/marks/patches.ts';
import { HOLD_ANNOTATION, MANAGED_LABEL } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { blindTo, intercepted, takesPermit, writesSpec } from './transports.ts';

let stage: Stage;
afterEach(() => stage.end());

describe('a start', () => {
  test('takes its permit before its spec is written', async () => {
    stage = await Stage.with('a');
    const order: string[] = [];
    const transport = intercepted(stage.transport, (request, go) => {
      if (writesSpec(request)) order.push('spec');
      if (takesPermit(request)) order.push('permit');
      return go();
    });
    stage.start({ transport });
    await stage.pass();
    // The Lease is written again later: it says who keeps the ledgers.
    expect(order.slice(0, 2)).toEqual(['permit', 'spec']);
  });

  test('writes no spec when the Lease was changed by somebody else, and is planned again', async () => {
    stage = await Stage.with('a');
    const order: string[] = [];
    const transport = intercepted(stage.transport, async (request, go) => {
      if (writesSpec(request)) order.push('spec');
      if (!takesPermit(request)) return go();
      order.push('permit');
      if (order.length === 1) await stage.patch(request.path, { metadata: { annotations: { touched: 'yes' } } });
      return go();
    });
    stage.start({ transport });
    await stage.pass();
    expect(order).toEqual(['permit', 'permit', 'spec']);
  });

  test('whose answer was lost is bumped, and goes on', async () => {
    stage = await Stage.with('a', 'b');
    let lost = 0;
    const transport = intercepted(stage.transport, async (request, go) => {
      const answer = await go();
      if (writesSpec(request) && lost++ === 0) throw new UnreachableError('lost');
      return answer;
    });
    stage.start({ transport });
    await stage.pass();
    expect((await stage.shadows.get('brs-a'))!.metadata.annotations).toMatchObject({
      'brupop.bottlerocket.aws/bumped': '1',
    });
    await stage.update('a');
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
  });

  test('that lands while a later plan is carried out keeps its permit, though its node looked idle to that plan', async () => {
    stage = await Stage.with('a', 'b');
    const hold = (node: string, value: string | null): Promise<void> =>
      stage.patchNode(node, { metadata: { annotations: { [HOLD_ANNOTATION]: value } } });
    await hold('b', '');
    const { promise: lands, resolve: land } = Promise.withResolvers<void>();
    const transport = intercepted(stage.transport, async (request, go) => {
      if (request.path.endsWith('/brs-a') && writesSpec(request)) await lands;
      // Of b, by the look of the later plan.
      if (request.method === 'GET' && request.path.endsWith('/brs-b')) {
        land();
        await stage.clock.sleep(100);
      }
      return go();
    });
    stage.start({ transport, env: { MAX_CONCURRENT_UPDATE: '2' } });
    await stage.pass(3000);
    await hold('a', '');
    await hold('b', null);
    await stage.pass();
    expect(await stage.spec('b')).toBe('StagedAndPerformedUpdate 1.1.0');
    expect(await stage.permits()).toEqual(['brs-a', 'brs-b']);
  });
});

test('a shadow is deleted as it was seen: one that has changed since is looked at again', async () => {
  stage = await Stage.withoutConditions('a');
  const label = (value: string | null): Promise<unknown> =>
    stage.patch('/api/v1/nodes/a', { metadata: { labels: { [MANAGED_LABEL]: value } } });
  const refused: unknown[] = [];
  const transport = intercepted(stage.transport, async (request, go) => {
    if (request.method !== 'DELETE' || refused.length > 0) return go();
    await label('2.0.0');
    await stage.report('a', { crash_count: 1 });
    return go().catch((error: unknown) => {
      refused.push(error);
      throw error;
    });
  });
  await label(null);
  stage.start({ transport });
  await stage.pass(5000);
  expect(refused).toEqual([expect.any(ConflictError)]);
  expect(await stage.shadows.get('brs-a')).toBeDefined();
});

describe('a permit', () => {
  test('is given back after a mark on the node that refuses every drain from before', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    const before = (await stage.nodes.get('a'))!;
    await stage.shadows.delete('brs-a', {});
    await stage.register(before);
    await stage.report('a', {
      current_version: '1.0.0',
      target_version: '1.0.0',
      current_state: 'Idle',
      crash_count: 0,
    });
    await stage.pass();
    expect(await stage.permits()).toEqual(['brs-b']);
    const drain = cordonPatch(before, { id: 'late', now: '2026-01-01T00:00:00Z', boot: null })!;
    await expect(stage.nodes.patch('a', { ...drain, metadata: { ...drain.metadata } })).rejects.toThrow(ConflictError);
  });

  test('is kept while the node bears marks that the cache does not show yet', async () => {
    stage = await Stage.with('a', 'b');
    stage.start({ transport: blindTo(NODES_PATH, stage.transport) });
    await stage.pass();
    await stage.mark('a');
    await stage.shadows.delete('brs-a', {});
    await stage.loseAgent('a');
    await stage.pass(60_000);
    expect(await stage.permits()).toEqual(['brs-a']);
  });

  test('is not given back where a drain has marked the node after the look at it', async () => {
    stage = await Stage.with('a', 'b');
    const outcomes: unknown[] = [];
    const transport = intercepted(stage.transport, async (request, go) => {
      if (!JSON.stringify(request.body ?? '').includes('aws/released')) return go();
      if (outcomes.length === 0) await stage.mark('a');
      return go().catch((error: unknown) => {
        outcomes.push(error);
        throw error;
      });
    });
    stage.start({ transport });
    await stage.pass();
    await stage.shadows.delete('brs-a', {});
    await stage.loseAgent('a');
    await stage.pass();
    expect(outcomes).toEqual([expect.any(ConflictError)]);
  });

  test('is given back after a mark that differs from the one before', async () => {
    stage = await Stage.with('a', 'b');
    await stage.patchNode('a', { metadata: { annotations: { 'brupop.bottlerocket.aws/released': '1' } } });
    stage.start();
    await stage.pass();
    await stage.update('a');
    expect((await stage.nodes.get('a'))!.metadata.annotations).toMatchObject({
      'brupop.bottlerocket.aws/released': '2',
    });
  });

  test('that a new leader finds without its shadow waits for the agent to go, and is then freed', async () => {
    stage = await Stage.with('a', 'b');
    const first = new AbortController();
    stage.start({ signal: first.signal });
    await stage.pass();
    first.abort();
    await stage.pass();
    await stage.shadows.delete('brs-a', {});
    stage.start();
    await stage.pass(60_000);
    expect(await stage.permits()).toEqual(['brs-a']);
    await stage.loseAgent('a');
    await stage.pass();
    expect(await stage.permits()).toEqual(['brs-b']);
  });

  test('of a node that was deleted in its drain is freed, and blames nobody, where its shadow went as fast', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    await stage.report('a', {
      current_state: 'StagedAndPerformedUpdate',
      reboot: { boot_id: 'boot-1', version: '1.1.0' },
    });
    await stage.pass();
    await stage.mark('a');
    await stage.loseAgent('a');
    // As the garbage collector does, before any plan has seen the one without the other.
    await stage.shadows.delete('brs-a', {});
    await stage.delete('/api/v1/nodes/a');
    await stage.pass();
    expect(await stage.permits()).toEqual(['brs-b']);
    const releases = await releasesOf(stage.transport).list({});
    expect(releases.flatMap(({ status }) => Object.values(status?.failures ?? {}))).toEqual([]);
  });

  test('of a node that was replaced under its name is freed, and the new node has its own', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    await stage.delete('/api/v1/nodes/a');
    await stage.loseAgent('a');
    await stage.join('a');
    await stage.pass();
    expect(await stage.permits()).toHaveLength(1);
    await stage.update((await stage.permits())[0] === 'brs-a' ? 'a' : 'b');
    await stage.update((await stage.permits())[0] === 'brs-a' ? 'a' : 'b');
    expect(await stage.permits()).toEqual([]);
  });
});
