import { afterEach, expect, test } from '@jest/globals';
import type { KubeRequest, KubeTransport } from '../../../runtime/kube/transport.ts';
import { RELEASES_PATH, releasesOf } from '../../../runtime/api/resources.ts';
import type { ReleaseStatus } from '../../../runtime/api/release/model.ts';
import type { Status } from '../../../runtime/api/shadow/model.ts';
import { CONTROLLER_LEASE, HOLD_ANNOTATION, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { Stage } from '../../controller/stage.ts';

/** What one leader knows of a release, and the next one has to. */

const NAME = '1.1.0.aws-k8s-1.33.amd64';
const LEASE_PATH = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${CONTROLLER_LEASE}`;
const MINUTE = 60_000;

let stage: Stage;
afterEach(() => stage.end());

const statusOf = async (): Promise<ReleaseStatus> => (await releasesOf(stage.transport).get(NAME))?.status ?? {};
const failures = async () => Object.values((await statusOf()).failures ?? {});
/** As an autoscaling group does: the garbage collector takes the shadow. */
async function remove(node: string): Promise<void> {
  await stage.loseAgent(node);
  await stage.shadows.delete(`brs-${node}`, {});
  await stage.delete(`/api/v1/nodes/${node}`);
}

/** The way to the cluster of a process that stops before the first request in question, and goes on when it is told to: no signal reaches it. */
function stopping(which: (request: KubeRequest) => boolean) {
  let goOn: (() => void) | undefined;
  const outcomes: string[] = [];
  let held: Promise<void> | undefined;
  const transport: KubeTransport = {
    request: async (asked) => {
      const { signal: _, ...request } = asked;
      if (!held && which(request)) held = new Promise((resolve) => (goOn = resolve));
      if (!held) return stage.transport.request(request);
      await held;
      const answer = stage.transport.request(request);
      if (which(request))
        answer.then(
          () => outcomes.push('written'),
          () => outcomes.push('refused'),
        );
      return answer;
    },
    watch: (request) => stage.transport.watch(request),
  };
  return { transport, outcomes, hasStopped: () => held !== undefined, goOn: () => goOn?.() };
}

const writesFailures = ({ method, path, body }: KubeRequest): boolean =>
  method === 'PATCH' && path === `${RELEASES_PATH}/${NAME}/status` && JSON.stringify(body).includes('NotReturned');

test('a node that requested its reboot and is gone with its shadow has failed, though no leader saw both', async () => {
  stage = await Stage.with('a', 'b');
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass();
  await stage.askForReboot('a');
  await stage.pass();
  first.abort();
  await stage.pass(5000);
  await remove('a');
  stage.start();
  await stage.pass(20_000);
  expect(await failures()).toMatchObject([{ node: 'a', reason: 'Gone' }]);
  expect(await stage.permits()).toEqual(['brs-b']);
});

test('a failure that a deposed leader enters late, after the attempt has ended well, halts the release only for a while', async () => {
  stage = await Stage.with('a', 'b');
  const deposed = stopping(writesFailures);
  stage.start({ transport: deposed.transport });
  await stage.pass();
  await stage.askForReboot('a');
  await stage.setReady('a', false);
  await stage.pass(16 * MINUTE);
  expect(deposed.hasStopped()).toBe(true);
  const env = { MAX_FAILED_UPDATE: '1', PROOF_NODES: '2' };
  stage.start({ env });
  await stage.pass(MINUTE);
  await stage.setReady('a', true);
  await stage.report('a', { current_state: 'RebootedIntoUpdate', current_version: '1.1.0', reboot: null });
  await stage.patchNode('a', {
    metadata: { annotations: { 'brupop.bottlerocket.aws/marks': null } },
    spec: { unschedulable: null },
  });
  await stage.pass();
  await stage.report('a', { current_state: 'MonitoringUpdate' });
  await stage.pass(5000);
  await stage.report('a', { current_state: 'Idle' });
  await stage.pass();
  deposed.goOn();
  await stage.pass(20 * MINUTE);
  expect(deposed.outcomes).toContain('refused');
  expect([await failures(), await stage.spec('b')]).toEqual([[], 'StagedAndPerformedUpdate 1.1.0']);
});

const MOMENTS: readonly [moment: string, which: (request: KubeRequest) => boolean][] = [
  ['reads the list of permits', ({ method, path }) => method === 'GET' && path === LEASE_PATH],
  ['reads the namespace', ({ method, path }) => method === 'GET' && path === `/api/v1/namespaces/${NAMESPACE}`],
  ['reads the releases', ({ method, path }) => method === 'GET' && path === RELEASES_PATH],
  ['reads its candidate', ({ method, path }) => method === 'GET' && path === '/api/v1/nodes/a'],
  [
    'takes the permit',
    ({ method, path, body }) => method === 'PUT' && path === LEASE_PATH && JSON.stringify(body).includes('brs-a'),
  ],
  [
    'writes the spec',
    ({ method, path, body }) =>
      method === 'PATCH' && path.endsWith('/brs-a') && JSON.stringify(body).includes('Staged'),
  ],
];

/** `b` fails meanwhile, and may try again: its own entry stops it no more. */
test.each(MOMENTS)('a leader that stops as it %s, and another, start no more nodes than may fail', async (_, which) => {
  stage = await Stage.with('a', 'b', 'c');
  const env = { MAX_FAILED_UPDATE: '1', PROOF_NODES: '2', MAX_CONCURRENT_UPDATE: '3' };
  let isArmed = false;
  const deposed = stopping((request) => isArmed && which(request));
  await hold('a', '');
  await hold('b', '');
  await hold('c', '');
  stage.start({ env, transport: deposed.transport });
  await stage.pass(5000);
  isArmed = true;
  await hold('a', null);
  await stage.pass();
  expect(deposed.hasStopped()).toBe(true);
  stage.start({ env });
  await hold('a', '');
  await hold('b', null);
  await stage.pass(2 * MINUTE);
  expect(await stage.permits()).toEqual(['brs-b']);
  await stage.askForReboot('b');
  await stage.report('b', {
    current_state: 'ErrorReset',
    crash_count: 1,
    failed_versions: ['1.1.0'],
    last_failure: notBooted(),
  });
  await stage.pass(5000);
  await stage.report('b', { current_state: 'Idle', reboot: null });
  await stage.pass(MINUTE);
  await hold('a', null);
  await hold('c', null);
  deposed.goOn();
  await stage.pass(MINUTE);
  expect(await failures()).toMatchObject([{ node: 'b', reason: 'BootFailed' }]);
  expect([await stage.permits(), await stage.specs('a', 'c')]).toEqual([['brs-b'], ['Idle', 'Idle']]);
});

const hold = (node: string, value: string | null): Promise<void> =>
  stage.patchNode(node, { metadata: { annotations: { [HOLD_ANNOTATION]: value } } });
const notBooted = (): NonNullable<Status['last_failure']> => {
  const time = rfc3339(stage.clock.now());
  return { state: 'RebootedIntoUpdate', reason: 'BootFailed', message: '', version: '1.1.0', time };
};

test('a release that never boots costs three machines, though each is replaced by another and leaders change', async () => {
  stage = await Stage.with('a0', 'a1');
  const lost: string[] = [];
  let term = new AbortController();
  const env = { PROOF_NODES: '1' };
  stage.start({ env, signal: term.signal });
  for (let round = 0; round < 8; round++) {
    await stage.pass(20_000);
    const [permit] = await stage.permits();
    if (permit === undefined) continue;
    const node = permit.slice('brs-'.length);
    await stage.askForReboot(node);
    await stage.pass();
    lost.push(node);
    await remove(node);
    await stage.join(`b${round}`);
    term.abort();
    await stage.pass(5000);
    term = new AbortController();
    stage.start({ env, signal: term.signal });
  }
  expect(lost).toHaveLength(3);
  expect(await statusOf()).toMatchObject({ state: 'Halted', failed: 3 });
});
