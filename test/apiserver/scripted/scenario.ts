import { expect } from '@jest/globals';
import type { Agent } from '../../../runtime/apiserver/agent.ts';
import { createApiserver } from '../../../runtime/apiserver/apiserver.ts';
import type { Service } from '../../../runtime/apiserver/service.ts';
import { apiStatusError, type KubeStatus } from '../../../runtime/kube/errors.ts';
import { silentLogger } from '../../../runtime/lib/log.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { MARKS_ANNOTATION, UPDATING_LABEL } from '../../../runtime/marks/names.ts';
import { NAMESPACE } from '../../../runtime/shadow/names.ts';
import { VirtualClock } from '../../../sim/clock.ts';
import { SHADOWS } from '../world.ts';
import { type AnyOrder, type Call, ScriptedApi } from './api.ts';

/** The words of a scenario: the calls of a drain and their answers. Versions are those of the node (`n…`) and the shadow (`s…`). */

export interface Scenario {
  readonly api: ScriptedApi;
  readonly clock: VirtualClock;
  readonly service: Service;
  readonly agent: Agent;
}

export function scenario(...script: readonly (Call | AnyOrder)[]): Scenario {
  const api = new ScriptedApi();
  api.expects(...script);
  const clock = new VirtualClock();
  const { service } = createApiserver({
    transport: api,
    namespace: NAMESPACE,
    config: {
      DRAIN_TIMEOUT_IN_SEC: 50,
      DRAIN_PREFLIGHT: 'warn',
      MAX_CONCURRENT_EVICTIONS: 5,
      REQUIRE_CLIENT_CERTIFICATE: false,
    },
    clock,
    random: fresh(),
    logger: silentLogger,
    instance: 'scripted',
  });
  return { api, clock, service, agent: { nodeName: 'n1', nodeUid: 'uid-n1', bootId: 'boot-1' } };
}

/** Next to no jitter, and yet no number twice: identities differ. */
function fresh(): Random {
  let calls = 0;
  return () => 0.5 - calls++ * 1e-9;
}

export const NODES = '/api/v1/nodes';
export const PODS = '/api/v1/pods';
const NODE = `${NODES}/n1`;
const SHADOW = `${SHADOWS}/brs-n1`;
/** The first identity that this randomness makes. */
const ID = '800000007ffffffb';
export const SINCE = '2026-01-01T00:00:00Z';
const OURS = ['cordon', 'cluster-autoscaler', 'karpenter'];

export const marks = (more: object = {}): string =>
  JSON.stringify({ id: ID, since: SINCE, boot: 'boot-1', owns: OURS, ...more });

interface NodeParts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly marks?: string;
  readonly cordoned?: boolean;
  readonly labels?: Record<string, string>;
  readonly version?: string;
}

export const node = (resourceVersion: string, parts: NodeParts = {}): object => ({
  metadata: {
    name: 'n1',
    uid: 'uid-n1',
    resourceVersion,
    labels: parts.labels ?? {},
    annotations: { ...parts.annotations, ...(parts.marks !== undefined && { [MARKS_ANNOTATION]: parts.marks }) },
  },
  spec: parts.cordoned ? { unschedulable: true } : {},
  status: {
    nodeInfo: { osImage: `Bottlerocket OS ${parts.version ?? '1.38.0'} (aws-k8s-1.33)`, bootID: 'boot-1' },
  },
});

/** The node as the drain has cordoned it. */
export const cordoned = (resourceVersion: string): object => node(resourceVersion, { cordoned: true, marks: marks() });

export interface ShadowParts {
  readonly state?: string;
  readonly drain?: object;
}

export const shadow = (resourceVersion: string, { state = 'RebootedIntoUpdate', drain }: ShadowParts = {}): object => ({
  metadata: {
    name: 'brs-n1',
    uid: 'uid-s1',
    resourceVersion,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid-n1' }],
  },
  spec: { state, version: '1.39.0' },
  status: { current_state: 'StagedAndPerformedUpdate', ...(drain && { drain }) },
});

export const pod = (name: string, more: object = {}): object => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1', ...more },
  status: { phase: 'Running' },
});

export const progress = (pods_left: number, ...blocked_by: readonly string[]): object => ({
  started_at: SINCE,
  pods_left,
  blocked_by,
});

export const refused = (code: number, more: Partial<KubeStatus> = {}): Error =>
  apiStatusError('a call', { code, message: 'no', ...more });

const listOf = (...items: readonly object[]): object => ({ metadata: { resourceVersion: '9' }, items });

/** The node and then the shadow. */
export const looks = (atNode: unknown, atShadow: unknown): Call[] => [
  { line: `GET ${NODE}`, answer: atNode },
  { line: `GET ${SHADOW}`, answer: atShadow },
];

export const lists = (...pods: readonly object[]): Call => listAnswers(listOf(...pods));

export const listAnswers = (answer: unknown): Call => ({
  line: `GET ${PODS}`,
  query: { fieldSelector: 'spec.nodeName=n1' },
  answer,
});

export const readsBudgets = (): Call => ({ line: 'GET /apis/policy/v1/poddisruptionbudgets', answer: listOf() });

/** The progress, on the shadow as it was at `from`. */
export const states = (from: string, drain: object, answer: unknown): Call => ({
  line: `PATCH ${SHADOW}/status`,
  body: { metadata: { resourceVersion: from }, status: { drain } },
  answer,
});

/** Marks and cordon in one patch, on the node as it was at `from`. */
export const cordons = (from: string, answer: unknown): Call => ({
  line: `PATCH ${NODE}`,
  body: {
    metadata: {
      resourceVersion: from,
      labels: { [UPDATING_LABEL]: 'true' },
      annotations: { [MARKS_ANNOTATION]: marks() },
    },
    spec: { unschedulable: true },
  },
  answer,
});

/** The swap of the last check, on the node as it was at `from`. */
export const proves = (from: string, answer: unknown): Call => ({
  line: `PATCH ${NODE}`,
  body: {
    metadata: {
      resourceVersion: from,
      annotations: { [MARKS_ANNOTATION]: expect.stringContaining(`{"id":"${ID}","since":"${SINCE}"`) },
    },
  },
  answer,
});

/** Any other patch of the node, exactly as it is given. */
export const patches = (body: object): Call => ({ line: `PATCH ${NODE}`, body, answer: node('after') });

export const tells = (reason: string): Call => ({
  line: 'POST /api/v1/namespaces/default/events',
  body: { reason },
  answer: {},
});

/** By policy/v1, for exactly this pod. */
export const evicts = (name: string, answer: unknown = {}): Call => ({
  line: `POST /api/v1/namespaces/shop/pods/${name}/eviction`,
  body: { apiVersion: 'policy/v1', kind: 'Eviction', deleteOptions: { preconditions: { uid: `uid-${name}` } } },
  answer,
});

/** A run begins: it follows the node and its pods, from a list on. */
export const follows = (atNode: object, ...pods: readonly object[]): Call[] => [
  { line: `GET ${NODES}`, query: { fieldSelector: 'metadata.name=n1' }, answer: listOf(atNode) },
  { line: `WATCH ${NODES}`, query: { fieldSelector: 'metadata.name=n1' }, answer: [] },
  lists(...pods),
  { line: `WATCH ${PODS}`, query: { fieldSelector: 'spec.nodeName=n1' }, answer: [] },
];

/** A drain of these pods begins: from the first look to the cordon, and the look after it. */
export const begins = (...pods: readonly object[]): (Call | AnyOrder)[] => [
  ...looks(node('n1'), shadow('s1')),
  lists(...pods),
  readsBudgets(),
  states('s1', progress(pods.length), shadow('s2', { drain: progress(pods.length) })),
  cordons('n1', cordoned('n2')),
  [tells('DrainStarted'), lists(...pods)],
];

/** The look after a run, and the proof. */
export const ends = (before: number): (Call | AnyOrder)[] => [
  ...looks(cordoned('n2'), shadow('s2', { drain: progress(before) })),
  lists(),
  states('s2', progress(0), shadow('s3', { drain: progress(0) })),
  proves('n2', node('n3')),
  tells('DrainFinished'),
];

/** Watchers are told that the pod is gone. */
export const gone = ({ api }: Scenario, name: string): void => api.tell(PODS, { type: 'DELETED', object: pod(name) });
