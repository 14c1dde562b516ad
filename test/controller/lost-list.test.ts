import { afterEach, describe, expect, test } from '@jest/globals';
import { BUMPED_ANNOTATION } from '../../runtime/controller/writing/actions/fencing.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { apiStatusError, ConflictError } from '../../runtime/kube/errors.ts';
import { createLogger } from '../../runtime/lib/log.ts';
import { MARKS_ANNOTATION, RELEASED_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { CONTROLLER_LEASE, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { intercepted, takesPermit } from './transports.ts';

/** The Lease without its list of permits: nobody knows who is being updated, or whose writes are under way. */

let stage: Stage;
const loseList = (): Promise<unknown> =>
  stage.leases.patch(CONTROLLER_LEASE, { metadata: { annotations: { [PERMITS_ANNOTATION]: null } } });
async function withoutList(...names: readonly string[]): Promise<void> {
  stage = await Stage.with(...names);
  await loseList();
}
afterEach(() => stage.end());

const bumps = async (name: string): Promise<string | undefined> =>
  (await stage.shadows.get(`brs-${name}`))!.metadata.annotations?.[BUMPED_ANNOTATION];
const released = async (name: string): Promise<string | undefined> =>
  (await stage.nodes.get(name))!.metadata.annotations?.[RELEASED_ANNOTATION];
const began = (name: string): Promise<unknown> =>
  stage.shadows.patch(`brs-${name}`, { spec: { state: 'RebootedIntoUpdate', version: '1.1.0' } });

test('a term that finds no list starts nothing before each shadow is bumped and each Node at rest is released', async () => {
  await withoutList('a', 'b');
  const before: unknown[] = [];
  const transport = intercepted(stage.transport, async (request, go) => {
    if (takesPermit(request))
      before.push([await bumps('a'), await bumps('b'), await released('a'), await released('b')]);
    return go();
  });
  stage.start({ transport });
  await stage.pass(30_000);
  expect(before[0]).toEqual(['1', '1', '1', '1']);
  expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
});

test('a term that finds no list puts on it what is under way, and starts no more nodes than may be updating', async () => {
  await withoutList('a', 'b');
  await began('b');
  await stage.report('b', { current_state: 'StagedAndPerformedUpdate' });
  stage.start();
  await stage.pass(60_000);
  expect(await stage.permits()).toEqual(['brs-b']);
  expect(await stage.spec('a')).toBe('Idle');
  expect([await released('a'), await released('b')]).toEqual(['1', undefined]);
});

test('a shadow that the API server refuses to bump is asked for less and less often, and nothing starts before', async () => {
  await withoutList('a', 'b');
  let refused = 0;
  let isOver = false;
  const transport = intercepted(stage.transport, (request, go) => {
    if (isOver || request.method !== 'PATCH' || !request.path.endsWith('/brs-b')) return go();
    refused += 1;
    const status = { code: 403, reason: 'Forbidden', message: 'a policy says no' };
    return Promise.reject(apiStatusError('PATCH', status));
  });
  stage.start({ transport });
  await stage.pass(600_000);
  expect(refused).toBeLessThan(30);
  expect(await stage.permits()).toEqual([]);
  isOver = true;
  await stage.pass(120_000);
  expect(await stage.permits()).toEqual(['brs-a']);
});

test('of a Node that bears marks nothing is released, and it is on the list', async () => {
  await withoutList('a', 'b');
  await began('b');
  await stage.mark('b');
  stage.start();
  await stage.pass(60_000);
  expect(await released('b')).toBeUndefined();
  expect(await stage.permits()).toEqual(['brs-b']);
});

describe('the list is taken off under its holder in mid-update', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['by its annotation', () => loseList()],
    [
      'with the Lease',
      () => stage.delete(`/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${CONTROLLER_LEASE}`),
    ],
    [
      'by another list',
      () => stage.leases.patch(CONTROLLER_LEASE, { metadata: { annotations: { [PERMITS_ANNOTATION]: '[]' } } }),
    ],
  ])('%s: no other node starts beside it, and both are updated', async (_how, lose) => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    expect(await stage.permits()).toEqual(['brs-a']);
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await lose();
    await stage.pass(120_000);
    expect(await stage.specs('a', 'b')).toEqual(['RebootedIntoUpdate 1.1.0', 'Idle']);
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    await stage.pass(30_000);
    await stage.report('a', { current_state: 'MonitoringUpdate' });
    await stage.pass(30_000);
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(120_000);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
    expect(await stage.permits()).toEqual(['brs-b']);
  });

  test('the log says what was lost, and of no other leader', async () => {
    stage = await Stage.with('a', 'b');
    const lines: string[] = [];
    const write = (line: string): void => void lines.push(line);
    stage.start({ logger: createLogger({ format: 'json', ansi: false, level: 'info', clock: stage.clock, write }) });
    await stage.pass();
    await loseList();
    await stage.update('a');
    const log = lines.join('');
    expect(log).toContain('the list of permits is gone');
    expect(log).not.toContain('another process leads');
  });

  test('and a drain that looked at its Node before cannot mark it afterwards', async () => {
    stage = await Stage.with('a', 'b');
    stage.start();
    await stage.pass();
    await began('b');
    const { resourceVersion } = (await stage.nodes.get('b'))!.metadata;
    await stage.shadows.patch('brs-b', { spec: { state: 'Idle' } });
    await loseList();
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.report('a', { current_state: 'ErrorReset' });
    await stage.pass();
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(120_000);
    const marks = { metadata: { resourceVersion, annotations: { [MARKS_ANNOTATION]: '{}' } } };
    await expect(stage.nodes.patch('b', marks)).rejects.toThrow(ConflictError);
  });
});

test('what an older operator has begun is on the list before another node gets a place', async () => {
  stage = await Stage.with('a', 'b', 'c');
  await began('c');
  await stage.report('c', { current_state: 'StagedAndPerformedUpdate' });
  const lists: string[] = [];
  const transport = intercepted(stage.transport, (request, go) => {
    if (takesPermit(request)) lists.push(JSON.stringify(request.body));
    return go();
  });
  stage.start({ transport, env: { MAX_CONCURRENT_UPDATE: '2' } });
  await stage.pass(10_000);
  expect(lists[0]).toContain('brs-c');
  expect(lists[0]).not.toContain('brs-a');
  expect([...(await stage.permits())].toSorted()).toEqual(['brs-a', 'brs-c']);
});
