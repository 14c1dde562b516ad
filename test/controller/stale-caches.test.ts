import { afterEach, expect, test } from '@jest/globals';
import { type ShadowObject, shadowsPath } from '../../runtime/api/resources.ts';
import { NODES_PATH, podsPath } from '../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import {
  GROUP,
  HOLD_ANNOTATION,
  MANAGED_LABEL,
  NAMESPACE,
  PAUSED_ANNOTATION,
  shadowName,
} from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { blindTo, intercepted } from './transports.ts';

/** A cache can lag behind for as long as it likes: what undoes anything looks at the API server first. */
let stage: Stage;
afterEach(() => stage.end());

/** `a` has a permit and is wanted in its reboot; its controller is gone, and the next one sees `path` as it was. */
async function succeeded(
  path: string,
  items: readonly unknown[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const list = { metadata: { resourceVersion: '1' }, items };
  stage.start({ transport: blindTo(path, stage.transport, list), env });
  await stage.pass(60_000);
}

async function rebooting(): Promise<void> {
  stage = await Stage.withoutConditions('a', 'b');
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass();
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  first.abort();
  await stage.pass();
  expect(await stage.permits()).toEqual(['brs-a']);
}

const listed = async (path: string, without: string): Promise<readonly unknown[]> => {
  const { items } = await stage.list(path);
  return items.filter(({ metadata }) => metadata.name !== without);
};

const isMarked = async (name: string): Promise<boolean> =>
  (await stage.nodes.get(name))!.metadata.annotations?.[`${GROUP}/marks`] !== undefined;

test('a permit whose node the cache does not show is kept while the Node is there', async () => {
  await rebooting();
  await succeeded(NODES_PATH, await listed(NODES_PATH, 'a'));
  expect(await stage.permits()).toEqual(['brs-a']);
});

test('a permit whose shadow the cache does not show is kept while the shadow is there', async () => {
  await rebooting();
  await stage.loseAgent('a');
  await succeeded(shadowsPath(NAMESPACE), await listed(shadowsPath(NAMESPACE), 'brs-a'));
  expect(await stage.permits()).toEqual(['brs-a']);
});

test('a permit whose shadow is gone is kept while its agent runs, whatever the cache shows', async () => {
  await rebooting();
  await stage.shadows.delete(shadowName('a'), {});
  await succeeded(podsPath(NAMESPACE), []);
  expect(await stage.permits()).toEqual(['brs-a']);
});

test('a permit whose shadow is gone is kept while its agent runs, though the cache shows the shadow as it was before the update', async () => {
  await rebooting();
  const { status, ...now } = (await stage.shadows.get(shadowName('a')))!;
  const offered = { target_version: status!.current_version, current_state: 'Idle' };
  const atRest = { ...now, spec: { state: 'Idle' }, status: { ...status, ...offered } };
  await stage.shadows.delete(shadowName('a'), {});
  await succeeded(shadowsPath(NAMESPACE), [...(await listed(shadowsPath(NAMESPACE), 'brs-a')), atRest]);
  expect(await stage.permits()).toEqual(['brs-a']);
});

test('marks stay while the shadow is not at rest, whatever the cache shows', async () => {
  await rebooting();
  await stage.mark('a');
  const { status, ...now } = (await stage.shadows.get(shadowName('a')))!;
  const atRest = { ...now, spec: { state: 'Idle' }, status: { ...status, current_state: 'Idle' } };
  await succeeded(shadowsPath(NAMESPACE), [atRest]);
  expect(await isMarked('a')).toBe(true);
});

test('marks without a shadow stay while the agent runs, whatever the cache shows', async () => {
  await rebooting();
  await stage.mark('a');
  await stage.shadows.delete(shadowName('a'), {});
  await succeeded(podsPath(NAMESPACE), []);
  expect(await isMarked('a')).toBe(true);
});

test('nobody is rescued whose agent runs, whatever the cache shows', async () => {
  await rebooting();
  await stage.mark('a');
  await succeeded(podsPath(NAMESPACE), [], { AGENT_TIMEOUT_IN_SEC: '20' });
  expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  expect(await isMarked('a')).toBe(true);
});

test('nobody is rescued whose node is not Ready, whatever the cache shows', async () => {
  await rebooting();
  await stage.mark('a');
  await stage.loseAgent('a');
  const ready = await listed(NODES_PATH, '');
  await stage.setReady('a', false);
  await succeeded(NODES_PATH, ready, { AGENT_TIMEOUT_IN_SEC: '20' });
  expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  expect(await isMarked('a')).toBe(true);
});

test('a shadow that was left by a former node of the name does not keep the marks of the new one from being released', async () => {
  await rebooting();
  const [{ metadata, ...rest }] = (await listed(shadowsPath(NAMESPACE), 'brs-b')) as [ShadowObject];
  await stage.loseAgent('a');
  const other = (await stage.nodes.get('b'))!.metadata;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'b', uid: other.uid }];
  await stage.shadows.patch('brs-a', { metadata: { ownerReferences } });
  await stage.mark('a');
  await succeeded(shadowsPath(NAMESPACE), [{ metadata: { ...metadata, ownerReferences }, ...rest }]);
  expect(await isMarked('a')).toBe(false);
});

test('the shadow of a node that is managed stays, whatever the cache shows', async () => {
  await rebooting();
  const { metadata, ...node } = (await stage.nodes.get('b'))!;
  const others = await listed(NODES_PATH, 'b');
  await succeeded(NODES_PATH, [...others, { ...node, metadata: { ...metadata, labels: {} } }]);
  expect(await stage.shadows.get(shadowName('b'))).toBeDefined();
});

test.each<[string, string, () => Promise<unknown>, () => Promise<unknown>]>([
  [
    'the release of marks',
    NODES_PATH,
    () => stage.mark('a'),
    () =>
      stage.patchNode('a', { metadata: { annotations: { [`${GROUP}/marks`]: null } }, spec: { unschedulable: null } }),
  ],
  [
    'the deletion of a shadow',
    shadowsPath(NAMESPACE),
    () => stage.patchNode('a', { metadata: { labels: { [MANAGED_LABEL]: null } } }),
    () => stage.shadows.delete(shadowName('a'), {}),
  ],
])(
  'what a late cache asks for is looked at ever less often, however often plans are made: %s',
  async (_what, path, begin, end) => {
    stage = await Stage.with('a', 'b');
    await begin();
    const items = await listed(path, '');
    await end();
    let looks = 0;
    const counting = intercepted(stage.transport, (request, go) => {
      if (request.method === 'GET' && request.path === `${NODES_PATH}/a`) looks += 1;
      return go();
    });
    const list = { metadata: { resourceVersion: '1' }, items };
    stage.start({ transport: blindTo(path, counting, list) });
    for (let second = 0; second < 90; second++) {
      const metadata = { labels: { second: String(second) } };
      await stage.shadows.patch('brs-b', { metadata });
      await stage.patchNode('b', { metadata });
      await stage.pass();
    }
    expect(looks).toBeGreaterThan(5);
    expect(looks).toBeLessThan(20);
  },
);

/** Trace 30: the cache knew of the condition before this process did, and of the start it did not hear for long. */
test('a node starts once its condition is acknowledged, and no other view than that of its start is then fresh', async () => {
  stage = await Stage.with('a', 'b');
  await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [PAUSED_ANNOTATION]: '' } } });
  const acknowledgement = Promise.withResolvers<void>();
  let isLagging = false;
  const { promise: caughtUp, resolve: catchUp } = Promise.withResolvers<void>();
  const transport: KubeTransport = {
    async request(request) {
      const answer = await stage.transport.request(request);
      if (request.path.endsWith('/brs-a/status')) await acknowledgement.promise;
      return answer;
    },
    async *watch(request) {
      for await (const event of stage.transport.watch(request)) {
        if (isLagging && request.path === shadowsPath(NAMESPACE)) await caughtUp;
        yield event;
      }
    },
  };
  try {
    stage.start({ transport });
    await stage.pass();
    isLagging = true;
    await stage.patch(`/api/v1/namespaces/${NAMESPACE}`, { metadata: { annotations: { [PAUSED_ANNOTATION]: null } } });
    await stage.pass();
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'Idle']);
    acknowledgement.resolve();
    await stage.pass();
    expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
    await stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
    await stage.pass(60_000);
    expect(await stage.permits()).toEqual(['brs-a']);
    expect(await stage.spec('b')).toBe('Idle');
  } finally {
    acknowledgement.resolve();
    catchUp();
  }
});

test.each<[string, Record<string, string>]>([
  ['annotations', { NODE_ANNOTATIONS: 'true' }],
  ['lifecycle conditions', { NODE_LIFECYCLE_CONDITIONS: 'written' }],
])('a Node whose %s a late cache does not show is read ever less often', async (_what, env) => {
  stage = await Stage.with('a', 'b');
  let looks = 0;
  const counting = intercepted(stage.transport, ({ method, path }, go) => {
    if (method === 'GET' && path === `${NODES_PATH}/b`) looks += 1;
    return go();
  });
  stage.start({ transport: blindTo(NODES_PATH, counting), env });
  for (let second = 0; second < 90; second++) {
    await stage.shadows.patch('brs-a', { metadata: { annotations: { second: String(second) } } });
    await stage.pass();
  }
  expect(looks).toBeGreaterThan(0);
  expect(looks).toBeLessThan(20);
});

test('a condition that is refused because the cache is late is written ever less often, however often plans are made', async () => {
  stage = await Stage.with('a', 'b');
  const items = await listed(shadowsPath(NAMESPACE), '');
  await stage.shadows.patch('brs-b', { metadata: { labels: { newer: 'yes' } } });
  let writes = 0;
  const counting = intercepted(stage.transport, ({ method, path }, go) => {
    if (method === 'PATCH' && path.endsWith('/brs-b/status')) writes += 1;
    return go();
  });
  const list = { metadata: { resourceVersion: '1' }, items };
  stage.start({ transport: blindTo(shadowsPath(NAMESPACE), counting, list) });
  for (let second = 0; second < 90; second++) {
    await stage.patchNode('b', { metadata: { labels: { second: String(second) } } });
    await stage.pass();
  }
  expect(writes).toBeGreaterThan(5);
  expect(writes).toBeLessThan(20);
});
