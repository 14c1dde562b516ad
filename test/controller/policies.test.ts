import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Freshness } from '../../runtime/controller/seeing/freshness.ts';
import { Policies } from '../../runtime/controller/seeing/policies.ts';
import { apiStatusError, UnexpectedAnswerError, UnreachableError } from '../../runtime/kube/errors.ts';
import { POLICIES_PATH, policiesOf } from '../../runtime/api/resources.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { POLICY_CRD_NAME } from '../../runtime/api/policy/names.ts';
import { random, type Tapped, world } from '../kube/world.ts';
import { policyNamed } from '../policies.ts';
import { policyCrd } from '../policy-crd.ts';
import { shadowCrd } from '../shadow-crd.ts';
import { config } from './stage.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const { clock, admin, tap } = world();
const resources = policiesOf(admin);
let transport: Tapped;
let policies: Policies;
let freshness: Freshness;
let changes: number;
let stop: AbortController;
let ended: Promise<unknown>;

/** A watch of policies; nobody else asks for anything here. @param before what becomes of requests */
function start(before: Tapped['before'] = () => undefined): void {
  transport = tap();
  transport.before = before;
  freshness = new Freshness({ clock, config: config() });
  policies = new Policies({ transport, clock, random, logger: silentLogger, config: config(), freshness });
  changes = 0;
  freshness.onChange(() => changes++);
  stop = new AbortController();
  ended = Promise.all([policies.run(stop.signal), freshness.run(stop.signal)]);
}
const define = (): Promise<unknown> => admin.request({ method: 'POST', path: CRDS, body: policyCrd() });
const make = (name: string, spec: object = { nodeSelector: {} }) => resources.create(policyNamed(name, spec));
const view = () => policies.view(clock.now());
const names = (): readonly (string | undefined)[] => view().map(({ policy }) => policy.name);

await admin.request({ method: 'POST', path: CRDS, body: shadowCrd() });
beforeEach(() => define());
afterEach(async () => {
  stop.abort();
  await ended;
  await admin.request({ method: 'DELETE', path: `${CRDS}/${POLICY_CRD_NAME}` }).catch(() => undefined);
});

describe('a cluster without the kind has no policies', () => {
  beforeEach(() => admin.request({ method: 'DELETE', path: `${CRDS}/${POLICY_CRD_NAME}` }));

  test('which is known, asked for once a minute, and no longer so a minute after the kind has come', async () => {
    start();
    expect(freshness.lost).toBeDefined();
    await clock.advance(0);
    expect([names(), freshness.lost]).toEqual([[undefined], undefined]);
    const before = transport.requests.length;
    await clock.advance(600_000);
    expect(transport.requests.length - before).toBeLessThanOrEqual(20);
    await define();
    await make('test');
    await clock.advance(60_000);
    expect(names()).toEqual(['test', undefined]);
  });

  test('unless it is somebody else who says so: a proxy that does not know the API server has the same page', async () => {
    start(({ path }) => {
      throw new UnexpectedAnswerError(`GET ${path}`, { code: 404, reason: 'Not Found' });
    });
    await clock.advance(120_000);
    expect(freshness.lost).toBe('the list of policies is answered with 404, and not by the API server');
  });
});

test('a kind that goes takes its policies along', async () => {
  await make('test');
  start();
  await clock.advance(0);
  expect(names()).toEqual(['test', undefined]);
  await admin.request({ method: 'DELETE', path: `${CRDS}/${POLICY_CRD_NAME}` });
  await clock.advance(0);
  expect([names(), freshness.lost]).toEqual([[undefined], undefined]);
});

test('a role that does not allow to read them is the reason why nobody knows them, until it does', async () => {
  await make('test');
  const message = 'bottlerocketupdatepolicies.brupop.bottlerocket.aws is forbidden';
  start(({ path }) => {
    if (path === POLICIES_PATH) throw apiStatusError(`GET ${path}`, { code: 403, reason: 'Forbidden', message });
  });
  await clock.advance(3_600_000);
  expect(freshness.lost).toBe(`the list of policies is refused: 403 Forbidden: ${message}`);
  expect(changes).toBe(2);
  transport.before = () => undefined;
  await clock.advance(60_000);
  expect([names(), freshness.lost]).toEqual([['test', undefined], undefined]);
});

test('a watch that fails is believed for a minute and a half, and again as soon as it is open', async () => {
  await make('test');
  start();
  await clock.advance(0);
  const before = changes;
  transport.beforeWatch = () => {
    throw new UnreachableError('refused');
  };
  transport.cut(new UnreachableError('reset'));
  await clock.advance(89_000);
  expect([names(), freshness.lost]).toEqual([['test', undefined], undefined]);
  await clock.advance(2_000);
  expect(freshness.lost).toBe('the list of policies is not answered');
  expect(changes - before).toBe(1);
  transport.beforeWatch = () => undefined;
  await clock.advance(40_000);
  expect(freshness.lost).toBeUndefined();
  expect(changes - before).toBe(2);
});

describe('a policy', () => {
  const valid = (name: string) => {
    const found = view().find(({ policy }) => policy.name === name);
    if (found?.kind !== 'valid') throw new Error(`expected a valid policy ${name}`);
    return found;
  };

  test('is the same object until its spec changes: the nodes that it selects are remembered by it', async () => {
    const { metadata } = await make('test');
    start();
    await clock.advance(0);
    const first = view();
    const { policy } = valid('test');
    await clock.advance(600_000);
    expect(view()).toBe(first);
    const nodes = { selected: 1, upToDate: 0, updating: 0, waiting: 1, failed: 0 };
    await resources.patchStatus('test', { status: { observedGeneration: 1, nodes } });
    await clock.advance(0);
    expect(valid('test').policy).toBe(policy);
    expect(valid('test').resource).toMatchObject({ uid: metadata.uid, generation: 1, status: { nodes } });
    await resources.patch('test', { spec: { priority: 7 } });
    await clock.advance(0);
    expect(valid('test')).toMatchObject({ policy: { priority: 7 }, resource: { generation: 2 } });
  });

  test('has the windows that it states, and else those of the variables', async () => {
    await make('night', { nodeSelector: {}, windows: [{ start: '0 2 * * *', duration: '1h' }] });
    await make('always');
    start();
    await clock.advance(0);
    const opens = valid('night').window.changesAt ?? 0;
    expect([valid('night').window.open, valid('always').window.open]).toEqual([false, true]);
    await clock.advance(opens - clock.now());
    expect(valid('night').window).toMatchObject({ open: true, changesAt: opens + 3_600_000 });
  });

  test('that cannot be obeyed says why', async () => {
    await make('old', { nodeSelector: {}, freezes: [{ from: '2026-02-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }] });
    start();
    await clock.advance(0);
    expect(view()[0]).toMatchObject({
      kind: 'broken',
      policy: { name: 'old', faults: [expect.stringContaining('spec.freezes[0]')] },
    });
  });
});
