import { afterEach, describe, expect, test } from '@jest/globals';
import { apiStatusError, UnreachableError } from '../../runtime/kube/errors.ts';
import { POLICIES_PATH, RELEASES_PATH, shadowsPath } from '../../runtime/api/resources.ts';
import { NAMESPACES_PATH, NODES_PATH, podsPath } from '../../runtime/kube/resources.ts';
import type { KubeRequest, KubeTransport } from '../../runtime/kube/transport.ts';
import { POLICY_KIND, POLICY_VERSION } from '../../runtime/api/policy/names.ts';
import { GROUP, HOLD_ANNOTATION, MANAGED_LABEL, NAMESPACE, PAUSED_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { policyCrd } from '../policy-crd.ts';
import { Stage } from './stage.ts';
import { writesSpec } from './transports.ts';

/** What a leader whose caches lag obeys all the same, because it reads it right before it starts a node. */

const MINUTE = 60_000;
/** Updates may start from ten minutes after the beginning. */
const LATER = { UPDATE_WINDOW_START: '00:10:00', UPDATE_WINDOW_STOP: '05:00:00' };
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const NAMESPACE_PATH = `${NAMESPACES_PATH}/${NAMESPACE}`;

/** A way to the cluster on which the events of some watches come late, and some requests are met by others. */
class Lagging implements KubeTransport {
  readonly #stage: Stage;
  #late: readonly string[] = [];
  #caughtUp: Promise<void> = Promise.resolve();
  #catchUp = (): void => undefined;
  meet: (request: KubeRequest) => Promise<void> = () => Promise.resolve();
  /** Reads of the API server itself, as the look makes them, and writes: in their order. */
  readonly asked: string[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** @param paths of collections */
  lag(...paths: readonly string[]): void {
    this.#late = paths;
    this.#caughtUp = new Promise((resolve) => (this.#catchUp = resolve));
  }

  catchUp(): void {
    this.#late = [];
    this.#catchUp();
  }

  async request(request: KubeRequest): Promise<unknown> {
    this.asked.push(`${request.method} ${request.path}`);
    await this.meet(request);
    return this.#stage.transport.request(request);
  }

  async *watch(request: Parameters<KubeTransport['watch']>[0]) {
    for await (const event of this.#stage.transport.watch(request)) {
      if (this.#late.includes(request.path)) await this.#caughtUp;
      yield event;
    }
  }
}

let stage: Stage;
let line: Lagging;
afterEach(() => {
  line.catchUp();
  return stage.end();
});

async function begin(env: Readonly<Record<string, string>>, ...names: readonly string[]) {
  stage = await Stage.with(...names);
  await stage.create(CRDS, policyCrd());
  line = new Lagging(stage);
  const manager = stage.start({ transport: line, env });
  await stage.pass();
  return manager;
}

/** Until half a minute before the window opens. */
const untilLate = (): Promise<void> => stage.pass(10 * MINUTE - 30_000);

const policy = (name: string, spec: object): Promise<unknown> =>
  stage.create(POLICIES_PATH, {
    apiVersion: `${GROUP}/${POLICY_VERSION}`,
    kind: POLICY_KIND,
    metadata: { name },
    spec,
  });
const annotate = (annotations: object): Promise<void> => stage.patchNode('a', { metadata: { annotations } });

const UNSEEN: readonly (readonly [what: string, path: string, change: () => Promise<unknown>])[] = [
  [
    'a pause',
    NAMESPACES_PATH,
    () => stage.patch(NAMESPACE_PATH, { metadata: { annotations: { [PAUSED_ANNOTATION]: '' } } }),
  ],
  [
    'a new policy of a higher priority that is paused',
    POLICIES_PATH,
    () => policy('all', { nodeSelector: {}, priority: 9, paused: true }),
  ],
  ['a hold', NODES_PATH, () => annotate({ [HOLD_ANNOTATION]: '' })],
  ['an outage of the node', NODES_PATH, () => stage.setReady('a', false)],
  [
    'that the node is no longer managed',
    NODES_PATH,
    () => stage.patch(`${NODES_PATH}/a`, { metadata: { labels: { [MANAGED_LABEL]: null } } }),
  ],
  ['that the node is gone', NODES_PATH, () => stage.delete(`${NODES_PATH}/a`)],
  [
    'that the offer is gone',
    shadowsPath(NAMESPACE),
    () => stage.report('a', { current_version: '1.0.0', target_version: '1.0.0' }),
  ],
];

describe('what a watch does not show yet', () => {
  test.each(UNSEEN)('%s is obeyed', async (_what, path, change) => {
    await begin(LATER, 'a');
    await untilLate();
    line.lag(path);
    await change();
    await stage.pass(60_000);
    const { spec = { state: 'Idle' } } = (await stage.shadows.get('brs-a')) ?? {};
    expect(spec.state).toBe('Idle');
    expect(await stage.permits()).toEqual([]);
  });

  test('another offer is obeyed, though its release would let the node start', async () => {
    await begin(LATER, 'a', 'b');
    await stage.patchNode('b', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
    await stage.report('b', { target_version: '1.2.0' });
    await untilLate();
    line.lag(shadowsPath(NAMESPACE));
    await stage.report('a', { target_version: '1.2.0' });
    await stage.pass(60_000);
    expect([await stage.spec('a'), await stage.permits()]).toEqual(['Idle', []]);
  });

  test('and no more nodes start than a policy allows that has become stricter since', async () => {
    await begin({ ...LATER, MAX_CONCURRENT_UPDATE: '3' }, 'a', 'b', 'c');
    await policy('all', { nodeSelector: {}, maxConcurrent: 3 });
    await untilLate();
    line.lag(POLICIES_PATH);
    await stage.patch(`${POLICIES_PATH}/all`, { spec: { maxConcurrent: 2 } });
    await stage.pass(60_000);
    const specs = await stage.specs('a', 'b', 'c');
    expect(specs.filter((spec) => spec !== 'Idle')).toHaveLength(2);
  });

  test('is asked for ever less often, while other nodes wait for the caches to catch up', async () => {
    await begin(LATER, 'a', 'b');
    await untilLate();
    line.lag(NODES_PATH);
    await annotate({ [HOLD_ANNOTATION]: '' });
    await stage.pass(60_000);
    const looks = line.asked.filter((one) => one === `GET ${NODES_PATH}/a`);
    expect(looks.length).toBeLessThan(20);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'Idle']);
    line.catchUp();
    await stage.pass(20_000);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
  });
});

test('what was read for a start is read after the list of permits, and nothing after the permit is taken', async () => {
  await begin({}, 'a');
  const look = line.asked.slice(line.asked.indexOf(`GET ${NAMESPACE_PATH}`) - 1);
  const asked = look.slice(0, 13).map((one) => one.replace(/^(\S+) .*\/([^/]+\/[^/]+)$/, '$1 $2'));
  expect(asked.slice(1, 10).toSorted()).toEqual([
    expect.stringMatching(/^GET .*brs-a$/),
    expect.stringMatching(/^GET .*pods$/),
    'GET leases/kube-controller-manager',
    'GET leases/kube-scheduler',
    'GET namespaces/' + NAMESPACE,
    'GET nodes/a',
    `GET ${RELEASES_PATH.split('/').slice(-2).join('/')}`,
    `GET ${POLICIES_PATH.split('/').slice(-2).join('/')}`,
    'GET v2/bottlerocketshadows',
  ]);
  expect([asked[0], ...asked.slice(10)]).toEqual([
    'GET leases/brupop-controller',
    'GET leases/brupop-controller',
    'PUT leases/brupop-controller',
    expect.stringMatching(/^PATCH .*brs-a$/),
  ]);
});

test('a look is done in time though the API server keeps each read waiting for three seconds', async () => {
  await begin(LATER, 'a');
  await untilLate();
  line.meet = ({ method, signal }) => (method === 'GET' ? stage.clock.sleep(3000, signal) : Promise.resolve());
  await stage.pass(60_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

const refuse =
  (path: string, message: string) =>
  async (request: KubeRequest): Promise<void> => {
    if (request.method === 'GET' && request.path === path)
      throw apiStatusError(`GET ${path}`, { code: 403, reason: 'Forbidden', message });
  };
const LOOKED_AT: readonly (readonly [what: string, path: string, said: string])[] = [
  ['namespace', NAMESPACE_PATH, 'the look at the namespace is refused: 403 Forbidden: no'],
  ['list of releases', RELEASES_PATH, 'the look at the list of releases is refused: 403 Forbidden: no'],
  ['list of policies', POLICIES_PATH, 'the look at the list of policies is refused: 403 Forbidden: no'],
];

describe('what cannot be read', () => {
  test.each(LOOKED_AT)('keeps every node where it is the %s, and the verdict says so', async (_what, path, said) => {
    const manager = await begin(LATER, 'a', 'b');
    await untilLate();
    line.meet = refuse(path, 'no');
    await stage.pass(50_000);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'Idle']);
    const { verdicts } = manager.preview();
    expect(verdicts.find(({ node }) => node === 'a')).toMatchObject({
      reason: 'WriteRefused',
      message: expect.stringContaining(said),
    });
    line.meet = () => Promise.resolve();
    await stage.pass(30_000);
    expect(await stage.specs('a', 'b')).toContain('StagedAndPerformedUpdate 1.1.0');
  });

  test('keeps only its node where it is a Node, a shadow or a pod', async () => {
    const manager = await begin({ ...LATER, MAX_CONCURRENT_UPDATE: '2' }, 'a', 'b');
    await untilLate();
    line.meet = refuse(`${NODES_PATH}/a`, 'no');
    await stage.pass(50_000);
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
    const [verdict] = manager.preview().verdicts;
    expect(verdict).toMatchObject({ reason: 'WriteRefused', message: expect.stringContaining('the look at the Node') });
  });

  test('is not waited for: what is disturbed goes on', async () => {
    await begin({ MAX_CONCURRENT_UPDATE: '2', PROOF_NODES: '1' }, 'a', 'b');
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    line.meet = async ({ method, path, signal }) => {
      if (method !== 'GET' || path !== NAMESPACE_PATH) return;
      await stage.clock.sleep(30_000, signal).catch(() => undefined);
      throw new UnreachableError('no answer');
    };
    await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0' });
    await stage.pass(15_000);
    expect(await stage.spec('a')).toBe('MonitoringUpdate 1.1.0');
  });
});

test('a start is made on the version that was looked at: a shadow that has changed since refuses it', async () => {
  await begin(LATER, 'a');
  await untilLate();
  let isFirst = true;
  const refused: unknown[] = [];
  line.meet = async (request) => {
    if (!writesSpec(request)) return;
    if (isFirst) await stage.report('a', { target_version: '1.2.0' });
    isFirst = false;
    refused.push((request.body as { spec: { version: string } }).spec.version);
  };
  await stage.pass(60_000);
  expect(refused).toEqual(['1.1.0', '1.2.0']);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.2.0');
});

test('an answer that comes after the watch has shown the end of a node brings nothing back', async () => {
  const manager = await begin(LATER, 'a', 'b');
  await untilLate();
  let isHeld = true;
  line.meet = async ({ method, path }) => {
    if (method === 'GET' && path === podsPath(NAMESPACE) && isHeld) {
      isHeld = false;
      await stage.delete(`${NODES_PATH}/a`);
      await stage.clock.sleep(3000);
    }
  };
  await stage.pass(60_000);
  expect(manager.preview().verdicts.map(({ node }) => node)).toEqual(['b']);
});
