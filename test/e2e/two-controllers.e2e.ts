import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lease, Pod } from '../../runtime/kube/objects.ts';
import type { KubeTransport, WatchEvent } from '../../runtime/kube/transport.ts';
import { readMarks } from '../../runtime/api/marks/marks.ts';
import {
  COMPONENTS,
  CONTROLLER_DEPLOYMENT,
  CONTROLLER_LEASE,
  HOLD_ANNOTATION,
  NAMESPACE,
} from '../../runtime/api/shadow/names.ts';
import { versionOfOsImage } from '../../runtime/api/shadow/semver.ts';
import { parseEntries, PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { type AuditEvent, readAudit } from './audit.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { operatorPods } from './operator.ts';
import { type Scene, Stage } from './scene.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  await kubectl('scale', '-n', NAMESPACE, `deployment/${CONTROLLER_DEPLOYMENT}`, '--replicas=2');
}, 90_000);

afterAll(() => stage.strike(), 60_000);

test('of two controllers one leads; one that slept through its term starts nothing any more', async () => {
  // A kubelet would not let it sleep: whoever sleeps here is the machine, with its kubelet.
  const scene = await stage.startFleet({ nodes: 4, liveness: 'ignored' });
  const lease = await leaseUntil(stage.cluster.transport, hasPermits);
  const stale = await scene.until(() => podOf(lease, scene));
  const pid = await pidOf(stale, scene);
  process.kill(pid, 'SIGSTOP');
  // Or its own node's drain would end it.
  await kubectl('annotate', 'node', stale.spec?.nodeName ?? '', `${HOLD_ANNOTATION}=`);

  const taken = await leaseUntil(stage.cluster.transport, (now) => holderOf(now) !== holderOf(lease));
  const busy = marked(scene);
  await scene.until(() => marked(scene).find((name) => !busy.includes(name)));
  process.kill(pid, 'SIGCONT');
  await kubectl('annotate', 'node', stale.spec?.nodeName ?? '', `${HOLD_ANNOTATION}-`);
  await scene.rolledOver();

  const nodes = [...scene.history.nodes.values()];
  expect(nodes.map(({ status }) => versionOfOsImage(status?.nodeInfo?.osImage))).toEqual(Array(4).fill('1.39.0'));
  expect(holderOf(taken)).not.toBe(stale.metadata.name);
  expect(await invariants(scene)).toEqual([]);
  const log = await readAudit(join(stage.cluster.dir, 'audit.log'));
  const later = log.slice(log.findIndex((event) => isWrite(event) && isBy(event, holderOf(taken))));
  expect(later.filter((event) => isBy(event, stale.metadata.name)).map(inWords)).toContain('get leases');
  // Where the other's own node is drained, it gives the lease back, and whoever stands by may lead.
  const givenBack = later.findIndex(givesBack);
  const term = later.slice(0, givenBack < 0 ? undefined : givenBack);
  // It may still tell of what it had done, or found, before it slept: by an Event, or by the condition of a node.
  const done = term.filter((event) => isBy(event, stale.metadata.name) && isWrite(event) && !tells(event));
  expect(done.map(inWords)).toEqual([]);
}, 240_000);

/** The Lease of the controllers, as soon as `check` holds. */
async function leaseUntil(transport: KubeTransport, check: (lease: Lease) => boolean): Promise<Lease> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
  const query = { fieldSelector: `metadata.name=${CONTROLLER_LEASE}` };
  const watching = new AbortController();
  try {
    const events = transport.watch({ path, query, signal: watching.signal }) as AsyncIterable<WatchEvent<Lease>>;
    for await (const { object } of events) if (check(object)) return object;
  } finally {
    watching.abort(new Error('seen'));
  }
  throw new Error('the watch of the Lease has ended');
}

function hasPermits({ metadata: { annotations } }: Lease): boolean {
  return (parseEntries(annotations?.[PERMITS_ANNOTATION]) ?? []).length > 0;
}

/** The leader's pod. */
function holderOf({ spec }: Lease): string {
  return spec?.holderIdentity?.split('_')[0] ?? '';
}

function podOf(lease: Lease, scene: Scene): Pod | undefined {
  return operatorPods(scene, COMPONENTS.controller).find(({ metadata }) => metadata.name === holderOf(lease));
}

/** Both may be on one node. */
async function pidOf(pod: Pod, { fleet }: Scene): Promise<number> {
  for (const pid of fleet.pods.pids(COMPONENTS.controller)) {
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8');
    if (environment.split('\0').includes(`MY_POD_NAME=${pod.metadata.name}`)) return pid;
  }
  throw new Error(`no program runs for the pod ${pod.metadata.name}`);
}

function marked({ history }: Scene): readonly string[] {
  return [...history.nodes.values()].filter((node) => readMarks(node)).map(({ metadata }) => metadata.name);
}

/** A request of this pod, by the token that it came with. */
function isBy({ user }: AuditEvent, pod: string): boolean {
  return user?.extra?.['authentication.kubernetes.io/pod-name']?.includes(pod) ?? false;
}

/** A leader's last word. */
function givesBack(event: AuditEvent): boolean {
  const { objectRef, responseObject } = event;
  const isOfLease = objectRef?.resource === 'leases' && objectRef.name === CONTROLLER_LEASE;
  return isOfLease && isWrite(event) && (responseObject as Lease).spec?.holderIdentity === '';
}

function tells({ objectRef }: AuditEvent): boolean {
  const { resource, subresource } = objectRef ?? {};
  return resource === 'events' || (resource === 'bottlerocketshadows' && subresource === 'status');
}

function inWords({ verb, objectRef }: AuditEvent): string {
  return `${verb} ${objectRef?.resource}`;
}

function isWrite({ verb, responseStatus }: AuditEvent): boolean {
  return ['create', 'update', 'patch', 'delete'].includes(verb) && (responseStatus?.code ?? 500) < 300;
}
