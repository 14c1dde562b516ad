import { afterEach, expect, test } from '@jest/globals';
import { crdsOf } from '../../runtime/kube/resources.ts';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import { CRD_NAME } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';
import { intercepted } from './transports.ts';

let stage: Stage;
afterEach(() => stage.end());

const CRD_PATH = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;
const storedVersions = async (): Promise<readonly string[] | undefined> =>
  (await crdsOf(stage.transport).get(CRD_NAME))!.status?.storedVersions;

/** As an installation is left that once stored v1. */
async function storedAsV1(...names: readonly string[]): Promise<void> {
  stage = await Stage.with(...names);
  const crd = (await stage.get(CRD_PATH)) as unknown as {
    spec: { versions: { name: string; storage: boolean }[] };
  };
  const [v2] = crd.spec.versions;
  await stage.patch(CRD_PATH, { spec: { versions: [v2, { ...v2, name: 'v1', storage: false }] } });
  await stage.patch(`${CRD_PATH}/status`, { status: { storedVersions: ['v1', 'v2'] } });
  expect(await storedVersions()).toEqual(['v1', 'v2']);
}

test('the leader writes every shadow once and then says that none is stored as v1', async () => {
  await storedAsV1('a', 'b');
  const order: string[] = [];
  const transport = intercepted(stage.transport, (request, go) => {
    const keys = Object.keys((request.body as { metadata?: object } | undefined)?.metadata ?? {});
    const isRewrite =
      request.method === 'PATCH' && keys.join() === 'resourceVersion' && !request.path.endsWith('/status');
    if (isRewrite && !('spec' in (request.body as object))) order.push(request.path.split('/').at(-1)!);
    if (request.path === `${CRD_PATH}/status`) order.push('storedVersions');
    return go();
  });
  stage.start({ transport });
  await stage.pass();
  expect(await storedVersions()).toEqual(['v2']);
  expect(order.toSorted()).toEqual(['brs-a', 'brs-b', 'storedVersions']);
  expect(order.at(-1)).toBe('storedVersions');
});

test('v1 stays named until every shadow was written', async () => {
  await storedAsV1('a', 'b');
  let isOut = true;
  const transport = intercepted(stage.transport, (request, go) => {
    const isMigration = request.path.endsWith('/brs-b') && !('spec' in ((request.body as object | undefined) ?? {}));
    return isOut && request.method === 'PATCH' && isMigration ? Promise.reject(new UnreachableError('out')) : go();
  });
  stage.start({ transport });
  await stage.pass(10_000);
  expect(await storedVersions()).toEqual(['v1', 'v2']);
  isOut = false;
  await stage.pass(60_000);
  expect(await storedVersions()).toEqual(['v2']);
});

test('v1 stays named where an older version has come back while shadows were written', async () => {
  await storedAsV1('a');
  const transport = intercepted(stage.transport, async ({ method, path }, go) => {
    const isFirst = method === 'PATCH' && path === `${CRD_PATH}/status`;
    if (isFirst) await stage.patch(CRD_PATH, { metadata: { labels: { 'app.kubernetes.io/version': 'older' } } });
    return go();
  });
  stage.start({ transport });
  await stage.pass(10_000);
  expect(await storedVersions()).toEqual(['v1', 'v2']);
});

test('a shadow in another namespace keeps v1 named', async () => {
  await storedAsV1('a');
  await stage.create('/api/v1/namespaces', { metadata: { name: 'elsewhere' } });
  await stage.create('/apis/brupop.bottlerocket.aws/v2/namespaces/elsewhere/bottlerocketshadows', {
    apiVersion: 'brupop.bottlerocket.aws/v2',
    kind: 'BottlerocketShadow',
    metadata: { name: 'brs-x' },
    spec: { state: 'Idle' },
  });
  stage.start();
  await stage.pass(10_000);
  expect(await storedVersions()).toEqual(['v1', 'v2']);
});

test('one shadow that is refused keeps no other from being written, and has none of them written again', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `n${10 + index}`);
  await storedAsV1(...names);
  const about = { resource: 'bottlerocketshadows', name: 'brs-n15' };
  const mend = stage.cluster.disturb(about, { kind: 'refuse', code: 403, reason: 'Denied', message: 'no' });
  const rewrites: string[] = [];
  const transport = intercepted(stage.transport, (request, go) => {
    const { metadata, ...rest } = (request.body ?? {}) as { metadata?: object };
    const isRewrite = request.method === 'PATCH' && Object.keys({ ...metadata, ...rest }).join() === 'resourceVersion';
    if (isRewrite) rewrites.push(request.path.split('/').at(-1)!);
    return go();
  });
  stage.start({ transport, env: { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2030' } });
  await stage.pass(10 * 3_600_000);
  expect(new Set(rewrites).size).toBe(20);
  expect(rewrites.length).toBeLessThan(19 + 20);
  mend();
  await stage.pass(2 * 3_600_000);
  expect(await storedVersions()).toEqual(['v2']);
});
