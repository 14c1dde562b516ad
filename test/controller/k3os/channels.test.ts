import { afterEach, describe, expect, test } from '@jest/globals';
import { CHANNEL_ANNOTATION, VERSION_ANNOTATION } from '../../../runtime/api/k3os/names.ts';
import { shadowName } from '../../../runtime/api/shadow/names.ts';
import { definePolicies } from '../../policies.ts';
import { K3osStage } from './stage.ts';

let k3os: K3osStage;
afterEach(async () => {
  expect(k3os.askedUnseen).toEqual([]);
  await k3os.stage.end();
});

const specs = (...nodes: string[]) => k3os.stage.specs(...nodes);
const never = new Promise<never>(() => undefined);

test('what the announcement shows: "latest" is asked for by one node, becomes a name, and nodes take it in turn', async () => {
  k3os = await K3osStage.with('n1', 'n2');
  await k3os.make({ version: 'v1.0.0' });
  k3os.start();
  await k3os.pass();
  expect(k3os.asked).toEqual([]);
  let tell = (): void => undefined;
  k3os.answer = () => new Promise((resolve) => (tell = () => resolve({ kind: 'found', tag: 'v1.1.0' })));
  await k3os.patch({ version: 'latest' });
  await k3os.pass();
  expect([(await k3os.channel()).status?.polling, await specs('n1', 'n2')]).toEqual(['n1', ['Idle', 'Idle']]);
  tell();
  await k3os.pass();
  expect(k3os.asked).toEqual(['rancher/k3os latest']);
  const { spec, status } = await k3os.channel();
  expect([spec?.version, status?.polling, status?.upgrading]).toEqual(['v1.1.0', '', ['n1']]);
  expect(await specs('n1', 'n2')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
  const shadow = await k3os.stage.shadows.get(shadowName('n1'));
  expect(shadow?.metadata.annotations).toMatchObject({
    [VERSION_ANNOTATION]: 'v1.1.0',
    [CHANNEL_ANNOTATION]: 'github-releases://rancher/k3os',
  });
  await k3os.stage.update('n1');
  await k3os.pass();
  expect((await k3os.channel()).status?.upgrading).toEqual(['n2']);
  await k3os.stage.update('n2');
  await k3os.pass();
  expect([(await k3os.channel()).status?.upgrading, await specs('n1', 'n2')]).toEqual([[], ['Idle', 'Idle']]);
  expect([await k3os.verdict('n1'), await k3os.reasons()]).toEqual([
    expect.stringMatching(/^UpToDate: /),
    ['Accepted Valid', 'Resolved Found'],
  ]);
});

test('as many nodes as the channel says are updated at once, within what the controller allows in all', async () => {
  k3os = await K3osStage.with('n1', 'n2', 'n3');
  await k3os.make({ concurrency: 2 });
  k3os.start();
  await k3os.pass();
  expect((await k3os.channel()).status?.upgrading).toEqual(['n1', 'n2']);
  expect(await k3os.verdict('n3')).toMatch(/^WaitingForSlot: /);
});

test('a cluster without a channel gets one that changes nothing, and only one that has k3OS nodes', async () => {
  k3os = await K3osStage.with('n1');
  await k3os.stage.patchNode('n1', { metadata: { labels: { 'k3os.io/mode': 'live' } } });
  k3os.start();
  await k3os.pass();
  expect(await k3os.channels.list()).toEqual([]);
  await k3os.stage.patchNode('n1', { metadata: { labels: { 'k3os.io/mode': 'disk' } } });
  await k3os.pass();
  const [made, ...more] = await k3os.channels.list();
  expect([made?.metadata.name, made?.metadata.annotations, more]).toEqual([
    'github-releases',
    { 'k3os.io/node': 'n1' },
    [],
  ]);
  expect(made?.spec).toEqual({ concurrency: 1, url: 'github-releases://rancher/k3os', version: 'v1.0.0' });
});

describe('nothing starts, and node and channel say why', () => {
  test.each<[string, object, string, string, string]>([
    ['an unknown URL', { url: 'ftp://k3os' }, 'PolicyInvalid: ', 'Accepted Invalid', 'spec.url'],
    ['no room for any', { concurrency: 0 }, 'Paused: ', 'Accepted Valid', ''],
    ['a version that is none', { version: 'newest' }, 'PolicyInvalid: ', 'Accepted Invalid', 'spec.version'],
  ])('%s', async (_, spec, verdict, condition, why) => {
    k3os = await K3osStage.with('n1');
    await k3os.make(spec);
    k3os.start();
    await k3os.pass();
    expect(await specs('n1')).toEqual(['Idle']);
    expect([await k3os.verdict('n1'), await k3os.reasons(), await k3os.said()]).toEqual([
      expect.stringContaining(verdict),
      expect.arrayContaining([condition]),
      expect.stringContaining(why),
    ]);
  });

  test('a release that does not exist', async () => {
    k3os = await K3osStage.with('n1');
    await k3os.make({ version: 'v9.9.9' });
    k3os.answer = () => ({ kind: 'missing', message: 'there is no v9.9.9', retryAt: Infinity });
    k3os.start();
    await k3os.pass();
    expect(await specs('n1')).toEqual(['Idle']);
    expect([await k3os.verdict('n1'), await k3os.reasons(), await k3os.said()]).toEqual([
      expect.stringContaining('PolicyInvalid: '),
      ['Accepted Valid', 'Resolved NotFound'],
      expect.stringContaining('there is no v9.9.9'),
    ]);
  });

  test('a source that is away, until it is back', async () => {
    k3os = await K3osStage.with('n1');
    await k3os.make();
    const { clock } = k3os.stage;
    k3os.answer = () => ({ kind: 'failed', message: 'nobody answers', retryAt: clock.now() + 60_000 });
    k3os.start();
    await k3os.pass();
    expect([await k3os.verdict('n1'), await k3os.reasons(), await k3os.said()]).toEqual([
      expect.stringContaining('WaitingForPolicy: '),
      ['Accepted Valid', 'Resolved SourceUnavailable'],
      expect.stringContaining('nobody answers'),
    ]);
    expect((await k3os.channel()).status?.polling).toBe('n1');
    k3os.answer = () => ({ kind: 'found', tag: 'v1.1.0' });
    await k3os.pass(70_000);
    expect([k3os.asked.length, await specs('n1')]).toEqual([2, ['StagedAndPerformedUpdate 1.1.0']]);
  });

  test('two channels, whatever they say, until one is gone', async () => {
    k3os = await K3osStage.with('n1');
    await k3os.make();
    await k3os.make({ version: 'v1.0.0' }, 'other');
    k3os.start();
    await k3os.pass();
    expect([await specs('n1'), k3os.asked]).toEqual([['Idle'], []]);
    expect([await k3os.verdict('n1'), await k3os.reasons(), await k3os.reasons('other')]).toEqual([
      'PolicyConflict: channels select the same nodes: k3os-system/github-releases, k3os-system/other',
      ['Accepted Conflict', 'Resolved NotAccepted'],
      ['Accepted Conflict', 'Resolved NotAccepted'],
    ]);
    await k3os.channels.delete('other', {});
    await k3os.pass(40_000);
    expect(await specs('n1')).toEqual(['StagedAndPerformedUpdate 1.1.0']);
  });

  test('a channel that hangs in its deletion, because nobody is left who would take its finalizer away', async () => {
    k3os = await K3osStage.with('n1');
    const { metadata } = await k3os.make();
    const finalizers = ['wrangler.cattle.io/k3os-operator'];
    await k3os.channels.patch(metadata.name, { metadata: { finalizers } });
    await k3os.channels.delete(metadata.name, {});
    k3os.start();
    await k3os.pass();
    expect([await specs('n1'), (await k3os.channels.list()).length]).toEqual([['Idle'], 1]);
    expect(await k3os.verdict('n1')).toMatch(/^NoUpdateOffered: there is no channel/);
  });
});

describe('an update that has disturbed nobody yet', () => {
  test('is called off where the channel names another release by then', async () => {
    k3os = await K3osStage.with('n1');
    await k3os.make();
    k3os.start();
    await k3os.pass();
    await k3os.patch({ version: 'v1.0.0' });
    await k3os.pass(1000);
    await k3os.stage.report('n1', { current_state: 'StagedAndPerformedUpdate' });
    await k3os.pass(10_000);
    expect(await k3os.stage.spec('n1')).toBe('Idle 1.1.0');
  });

  test('waits where nobody knows which release is wanted', async () => {
    k3os = await K3osStage.with('n1');
    await k3os.make();
    k3os.start();
    await k3os.pass();
    k3os.answer = () => never;
    await k3os.patch({ version: 'latest' });
    await k3os.pass(1000);
    await k3os.stage.report('n1', { current_state: 'StagedAndPerformedUpdate' });
    await k3os.pass();
    expect([await k3os.stage.spec('n1'), await k3os.verdict('n1')]).toEqual([
      'StagedAndPerformedUpdate 1.1.0',
      expect.stringMatching(/^WaitingForPolicy: /),
    ]);
  });
});

describe('a policy that selects k3OS nodes as well', () => {
  test.each<[string, number, readonly string[]]>([
    ['rules where its priority is higher, and the version is still the channel’s', 1, ['n1', 'n2']],
    ['leaves them to the channel where it is lower', -1, ['n1']],
    ['stops them where it is the same', 0, []],
  ])('%s', async (_, priority, upgrading) => {
    k3os = await K3osStage.with('n1', 'n2');
    await definePolicies(k3os.stage, { everything: { nodeSelector: {}, priority, maxConcurrent: 2 } });
    await k3os.pass(30_000);
    await k3os.make();
    k3os.start();
    await k3os.pass();
    expect((await k3os.channel()).status?.upgrading).toEqual(upgrading);
    if (priority === 0) expect(await k3os.verdict('n1')).toMatch(/^PolicyConflict: .*everything, k3os-system/);
  });
});

test('the next leader does not ask again for what the channel already says', async () => {
  k3os = await K3osStage.with('n1');
  await k3os.make({ concurrency: 0 });
  const first = new AbortController();
  k3os.start({}, { signal: first.signal });
  await k3os.pass();
  expect(k3os.asked).toHaveLength(1);
  first.abort();
  await k3os.pass();
  k3os.answer = () => never;
  k3os.start();
  await k3os.pass(60_000);
  await k3os.patch({ concurrency: 1 });
  await k3os.pass();
  expect([k3os.asked.length, await specs('n1')]).toEqual([1, ['StagedAndPerformedUpdate 1.1.0']]);
});

test('a source that hangs when it is asked again is waited for at rest', async () => {
  k3os = await K3osStage.with('n1');
  await k3os.make();
  const { clock } = k3os.stage;
  let waits = 0;
  const counted = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (ms: number, signal?: AbortSignal) => {
      waits += 1;
      // A loop that never rests would leave no time for the test to fail.
      return waits > 10_000 ? never : clock.sleep(ms, signal);
    },
  };
  k3os.answer = () => ({ kind: 'failed', message: 'nobody answers', retryAt: clock.now() + 10_000 });
  k3os.start({}, { clock: counted });
  await k3os.pass();
  k3os.answer = () => never;
  await k3os.pass(10_000);
  const before = waits;
  await k3os.pass(10_000);
  expect([k3os.asked.length, waits - before < 100]).toEqual([2, true]);
});

test('a channel is written at a bounded rate, and not at all where nothing changes', async () => {
  k3os = await K3osStage.with('n1');
  await k3os.make();
  k3os.start();
  await k3os.pass(60_000);
  const before = (await k3os.channel()).metadata.resourceVersion;
  await k3os.pass(600_000);
  expect((await k3os.channel()).metadata.resourceVersion).toBe(before);
});

test('over the definition that the preview has left, which drops conditions, all the rest is as ever', async () => {
  k3os = await K3osStage.preview('n1');
  await k3os.make({ version: 'latest' });
  k3os.start();
  await k3os.pass(10_000);
  const before = await k3os.channel();
  expect([before.spec?.version, before.status]).toEqual(['v1.1.0', { polling: '', upgrading: ['n1'] }]);
  await k3os.pass(60_000);
  expect((await k3os.channel()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test('without channels k3OS nodes are nobody’s, as ever', async () => {
  k3os = await K3osStage.with('n1');
  await k3os.make();
  const controller = k3os.stage.start();
  await k3os.pass();
  expect([controller.preview().verdicts, (await k3os.channel()).status]).toEqual([[], undefined]);
});
