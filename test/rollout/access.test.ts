import { beforeAll, describe, expect, test } from '@jest/globals';
import { SERVICE_ACCOUNTS } from '../../infra/names.ts';
import { shadowsPath } from '../../runtime/api/resources.ts';
import type { KubeList, Node, Pod } from '../../runtime/kube/objects.ts';
import { podsPath } from '../../runtime/kube/resources.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import {
  COMPONENT_LABEL,
  COMPONENTS,
  CRD_NAME,
  GROUP,
  MANAGED_LABEL,
  MANAGED_LABEL_VALUE,
  NAMESPACE,
  PLURAL,
} from '../../runtime/api/shadow/names.ts';
import type { Shadow } from '../../runtime/api/shadow/model.ts';
import type { AuditEntry } from '../../lab/sim/cluster/cluster.ts';
import type { Rollout } from '../../lab/sim/rollout.ts';
import type { Summary } from '../../lab/sim/view/summary.ts';
import type { Manifest } from '../../lab/sim/world/manifests.ts';
import { policyNamed } from '../policies.ts';
import { rightFor, rightsOf, unusedRights } from '../rights.ts';
import { isOver, until, withRollout } from './support.ts';

/**
 * The roles held against the calls that the processes make in the life of a fleet: an update that succeeds, one that fails again and
 * again, a node that is no longer managed, and one whose agent never comes.
 */

type Process = keyof typeof COMPONENTS;
const PROCESSES = Object.keys(COMPONENTS) as Process[];
let audit: readonly AuditEntry[] = [];
/** What there was to see when the rollout was over, and before the fleet lived on. */
let over: { readonly summary: Summary; readonly shadow: Shadow | undefined; readonly node: Node | undefined };

beforeAll(() =>
  withRollout({ options: { nodes: 2, faults: new Map([['node-2', 'boot']]) }, edit: attentive }, async (rollout) => {
    await live(rollout);
    audit = rollout.world.cluster.audit;
  }),
);

/** One apiserver, so that it remembers every Event, and a controller that soon misses an agent, and asks a repository of releases. */
function attentive(manifests: readonly Manifest[]): readonly Manifest[] {
  const text = JSON.stringify(manifests)
    .replace('"replicas":3', '"replicas":1')
    .replace('"name":"UPDATE_REPOSITORIES","value":"[]"', '"name":"UPDATE_REPOSITORIES","value":"public"')
    .replace(/("name":"AGENT_TIMEOUT_IN_SEC","value":)"\d+"/, '$1"5"');
  return [...(JSON.parse(text) as Manifest[]), ...DAEMON_WITH_VOLUME, POLICY];
}

/** It changes nothing, and has a status. */
const POLICY = policyNamed('everything', { nodeSelector: {} });

const LABELS = { app: 'logs' };
const LOGS = { name: 'logs', namespace: 'default' };
/** A pod on each node that stays there, with a volume: a drain has to know whose that is. */
const DAEMON_WITH_VOLUME: readonly Manifest[] = [
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'logs' },
    spec: { csi: { driver: 'csi.test', volumeHandle: 'vol-1' } },
  },
  { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: LOGS, spec: { volumeName: 'logs' } },
  {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: LOGS,
    spec: {
      selector: { matchLabels: LABELS },
      template: {
        metadata: { labels: LABELS },
        spec: {
          containers: [{ name: 'main', image: 'logs' }],
          volumes: [{ name: 'logs', persistentVolumeClaim: { claimName: 'logs' } }],
        },
      },
    },
  },
];

async function live(rollout: Rollout): Promise<void> {
  const { transport, cluster } = rollout.world;
  const done = (process: Process, call: string, namespace: string): boolean =>
    callsOf(process, cluster.audit).some((entry) => rightFor(entry) === call && entry.namespace === namespace);
  await isOver(rollout);
  over = {
    summary: rollout.summary(),
    shadow: rollout.recorder.shadows.get('brs-node-2'),
    node: rollout.recorder.nodes.get('node-2'),
  };
  // In the end nothing is new, and an Event that there is already is counted up: by a process that has not moved meanwhile.
  const countedUp = (): boolean =>
    done('apiserver', 'patch events', 'default') && done('controller', 'patch events', NAMESPACE);
  for (let round = 0; round < 8 && !countedUp(); round++) await failAgain(rollout);
  await transport.request(mergePatch('/api/v1/nodes/node-1', { metadata: { labels: { [MANAGED_LABEL]: null } } }));
  await transport.request({ method: 'POST', path: '/api/v1/nodes', body: NODE_WITHOUT_AGENT });
  await until(rollout, () => done('controller', 'create events', 'default'), '/api/v1/events');
  await until(rollout, () => done('controller', `delete ${GROUP}/${PLURAL}`, NAMESPACE));
  await leaveStoredAsV1(rollout);
}

/** As an older installation left it; the controller that starts next sees to it. */
async function leaveStoredAsV1({ world: { transport, cluster } }: Rollout): Promise<void> {
  const crd = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`;
  await transport.request(mergePatch(`${crd}/status`, { status: { storedVersions: ['v1', 'v2'] } }));
  const query = { labelSelector: `${COMPONENT_LABEL}=${COMPONENTS.controller}` };
  const { items } = (await transport.request({ method: 'GET', path: podsPath(NAMESPACE), query })) as KubeList<Pod>;
  for (const { metadata } of items) {
    await transport.request({ method: 'DELETE', path: `${podsPath(NAMESPACE)}/${metadata.name}` });
  }
  const moved = (): boolean =>
    callsOf('controller', cluster.audit).some((entry) => rightFor(entry).startsWith('patch apiextensions.k8s.io/'));
  for (let second = 0; second < 40 && !moved(); second++) await systemClock.sleep(1000);
}

const NODE_WITHOUT_AGENT = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node-9', labels: { [MANAGED_LABEL]: MANAGED_LABEL_VALUE } },
};

function mergePatch(path: string, body: object) {
  return { method: 'PATCH', path, body, contentType: 'application/merge-patch+json' } as const;
}

/** Lets node-2 try again at once, and waits until it has failed. */
async function failAgain(rollout: Rollout): Promise<void> {
  const status = () => rollout.recorder.shadows.get('brs-node-2')?.status;
  const crashes = status()?.crash_count ?? 0;
  const longAgo = { status: { state_transition_failure_timestamp: '2020-01-01T00:00:00Z' } };
  const path = `${shadowsPath(NAMESPACE)}/brs-node-2/status`;
  await rollout.world.transport.request(mergePatch(path, longAgo));
  await until(rollout, () => (status()?.crash_count ?? 0) > crashes && status()?.current_state === 'Idle');
}

function callsOf(process: Process, entries: readonly AuditEntry[]): AuditEntry[] {
  const user = `system:serviceaccount:${NAMESPACE}:${SERVICE_ACCOUNTS[process]}`;
  return entries.filter((entry) => entry.user === user);
}

const USED_ELSEWHERE: readonly string[] = [
  // A webhook for nodes, pods or evictions fails closed: test/drain/webhooks.test.ts.
  'list discovery.k8s.io/endpointslices',
  // A drain moved pods of one: test/apiserver/drain/displaced.test.ts.
  'get apps/statefulsets',
  // Nobody has run, or was offered, a release for a week: test/api/release/kept.test.ts.
  'delete brupop.bottlerocket.aws/bottlerocketreleases',
  // A repository of releases was read, which this one cannot reach: test/rollout/waves.test.ts, and again: test/controller/repositories.test.ts.
  'create configmaps',
  'patch configmaps',
];

/** Rights with which a process reaches beyond its namespace, though it may not have had to in this fleet's life. */
const REACHES_BEYOND: Readonly<Record<Process, readonly string[]>> = {
  agent: [],
  // A pod that went, or was replaced, just as it was to be evicted: test/contract/drain.test.ts.
  apiserver: ['get pods', ...USED_ELSEWHERE],
  // An Event about a Node or a policy that happens again.
  controller: ['patch events', ...USED_ELSEWHERE],
};

test('a node whose new image does not boot comes back on the old one, is released, and is named', () => {
  expect(over.summary.faults).toEqual([
    expect.stringMatching(/^node-2 runs 1\.38\.0, not 1\.39\.0: BootFailed on 1\.39\.0, .*crash count 1/),
  ]);
  expect(over.shadow).toMatchObject({
    spec: { state: 'Idle' },
    status: { current_state: 'Idle', crash_count: 1, current_version: '1.38.0', failed_versions: ['1.39.0'] },
  });
  expect(over.node?.spec?.unschedulable).toBeUndefined();
});

describe.each(PROCESSES)('%s', (process) => {
  test('is refused nothing that it asks for', () => {
    const calls = callsOf(process, audit);
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
  });

  test('uses each right that it has', () => {
    expect(unusedRights(process, callsOf(process, audit)).filter((right) => !USED_ELSEWHERE.includes(right))).toEqual(
      [],
    );
  });

  test('has a right in the whole cluster only for what it reaches beyond its own namespace', () => {
    const beyond = callsOf(process, audit).filter(({ namespace }) => namespace !== NAMESPACE);
    const reached = new Set(beyond.map((entry) => rightFor(entry)));
    const local = rightsOf(process, 'cluster').filter((right) => !reached.has(right));
    expect(local.filter((right) => !REACHES_BEYOND[process].includes(right))).toEqual([]);
  });
});
