import { expect } from '@jest/globals';
import { apiStatusError, type KubeStatus } from '../../../runtime/kube/errors.ts';
import { MARKS_ANNOTATION, UPDATING_LABEL } from '../../../runtime/marks/names.ts';
import { SHADOWS } from '../world.ts';
import type { AnyOrder, Call } from './api.ts';

/** The words of a script: calls and their answers. Versions are those of the node (`n…`) and the shadow (`s…`). */

export const NODES = '/api/v1/nodes';
export const PODS = '/api/v1/pods';
const NODE = `${NODES}/n1`;
const SHADOW = `${SHADOWS}/brs-n1`;
/** The first identity that this randomness makes. */
const ID = '800000007ffffffb';
export const SINCE = '2026-01-01T00:00:00Z';
const OURS = ['cordon', 'cluster-autoscaler', 'karpenter'];

/** When the node and its pods were created. */
const CREATED = '2025-12-31T00:00:00Z';

export const marks = (more: object = {}): string => {
  const { owns, ...rest } = { id: ID, since: SINCE, boot: 'boot-1', newestPod: CREATED, owns: OURS, ...more };
  return JSON.stringify({ ...rest, owns });
};

interface NodeParts {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly marks?: string;
  readonly cordoned?: boolean;
  readonly labels?: Record<string, string>;
  readonly version?: string;
  /** Unique names. */
  readonly volumes?: readonly string[];
}

export const node = (resourceVersion: string, parts: NodeParts = {}): object => ({
  metadata: {
    name: 'n1',
    uid: 'uid-n1',
    resourceVersion,
    creationTimestamp: CREATED,
    labels: parts.labels ?? {},
    annotations: { ...parts.annotations, ...(parts.marks !== undefined && { [MARKS_ANNOTATION]: parts.marks }) },
  },
  spec: parts.cordoned ? { unschedulable: true } : {},
  status: {
    nodeInfo: { osImage: `Bottlerocket OS ${parts.version ?? '1.38.0'} (aws-k8s-1.33)`, bootID: 'boot-1' },
    ...(parts.volumes && { volumesInUse: parts.volumes }),
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

interface PodParts {
  readonly metadata?: object;
  readonly spec?: object;
  readonly phase?: string;
}

export const pod = (name: string, { metadata, spec, phase = 'Running' }: PodParts = {}): object => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${name}`,
    resourceVersion: '1',
    labels: { app: 'web' },
    creationTimestamp: CREATED,
    ...metadata,
  },
  spec: { ...spec },
  status: { phase, conditions: [{ type: 'Ready', status: 'True' }] },
});

/** As it is once its eviction was accepted. */
export const ending = (name: string): object => pod(name, { metadata: { deletionTimestamp: '2026-01-01T00:00:30Z' } });

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

export const readsBudgets = (...budgets: readonly object[]): Call => budgetsAnswer(listOf(...budgets));

export const budgetsAnswer = (answer: unknown): Call => ({ line: 'GET /apis/policy/v1/poddisruptionbudgets', answer });

/** Of all pods of the shop, which are all healthy and may all not be disrupted. */
export const spentBudget = (name: string): object => ({
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '1' },
  spec: { selector: { matchLabels: { app: 'web' } } },
  status: { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 },
});

/** @param ready the status of its condition */
export const anotherNode = (ready: string): object => ({
  metadata: { name: 'n2', uid: 'uid-n2', resourceVersion: '1' },
  spec: {},
  status: { conditions: [{ type: 'Ready', status: ready }] },
});

/** Whether any other node could take pods. */
export const looksElsewhere = (...nodes: readonly object[]): Call => ({
  line: `GET ${NODES}`,
  query: { limit: '10', fieldSelector: 'spec.unschedulable=false' },
  answer: listOf(...nodes),
});

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

/** The name of the volume that a claim of the shop is bound to. */
export const volumeName = (claim: string): string => `kubernetes.io/csi/csi.test^vol-${claim}`;

/** Whose volume it is that a claim is bound to. */
export const readsVolume = (claim: string): Call[] => [
  {
    line: `GET /api/v1/namespaces/shop/persistentvolumeclaims/${claim}`,
    answer: { spec: { volumeName: `pv-${claim}` } },
  },
  {
    line: `GET /api/v1/persistentvolumes/pv-${claim}`,
    answer: { spec: { csi: { driver: 'csi.test', volumeHandle: `vol-${claim}` } } },
  },
];

/** The drain begins to wait for volumes, on the node as it was at `from`. */
export const awaitsVolumes = (from: string, answer: unknown): Call => ({
  line: `PATCH ${NODE}`,
  exactly: {
    metadata: { resourceVersion: from, annotations: { [MARKS_ANNOTATION]: marks({ volumesSince: SINCE }) } },
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
export const patches = (exactly: object): Call => ({ line: `PATCH ${NODE}`, exactly, answer: node('after') });

/** @param words that its message holds */
export const tells = (reason: string, words = ''): Call => ({
  line: 'POST /api/v1/namespaces/default/events',
  body: { reason, message: expect.stringContaining(words) },
  answer: {},
});

/** By policy/v1, for exactly this pod. */
export const evicts = (name: string, answer: unknown = {}, namespace = 'shop'): Call => ({
  line: `POST /api/v1/namespaces/${namespace}/pods/${name}/eviction`,
  body: { apiVersion: 'policy/v1', kind: 'Eviction', deleteOptions: { preconditions: { uid: `uid-${name}` } } },
  answer,
});

/** Whose the pod's name is now. */
export const podAnswers = (answer: unknown): Call => ({ line: 'GET /api/v1/namespaces/shop/pods/web-1', answer });

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

interface End {
  /** How many pods the shadow still speaks of. */
  readonly before: number;
  /** Versions of the node and of the shadow. */
  readonly node?: string;
  readonly shadow?: string;
  /** Pods that are left and not waited for. */
  readonly pods?: readonly object[];
  /** What is told at the end. */
  readonly words?: string;
}

/** The look after a run, and the proof. */
export const ends = (end: End): Call[] => {
  const { before, node: at = 'n2', shadow: from = 's2', pods = [], words } = end;
  return [
    ...looks(cordoned(at), shadow(from, { drain: progress(before) })),
    lists(...pods),
    states(from, progress(0), shadow('s9', { drain: progress(0) })),
    proves(at, node('n9')),
    tells('DrainFinished', words),
  ];
};
