import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';

/**
 * What objects say, read without anything of the operator's: a judge that shares code with whom it judges shares its mistakes. Objects of a history
 * never change, so each is read once.
 */

type Json = Readonly<Record<string, unknown>>;

const GROUP = 'brupop.bottlerocket.aws';
export const MARKS = `${GROUP}/marks`;
export const RELEASED = `${GROUP}/released`;
export const PAUSED = `${GROUP}/paused`;
export const NAMESPACE = 'brupop-bottlerocket-aws';
export const LEASE = 'brupop-controller';

export function once<T>(read: (object: KubeObject) => T): (object: KubeObject) => T {
  const known = new WeakMap<KubeObject, T>();
  return (object) => getOrInsert(known, object, read);
}

export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Json | null | undefined)?.[key], value);
}

export const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export function parsed(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Name of the node whose shadow bears this name. */
export const nodeOf = (shadow = ''): string => shadow.replace(/^brs-/, '');

const SIGN_LABELS = [`${GROUP}/updating`, 'node.kubernetes.io/exclude-from-external-load-balancers'];
const SIGN_ANNOTATIONS = ['cluster-autoscaler.kubernetes.io/scale-down-disabled', 'karpenter.sh/do-not-disrupt'];

export type NodeFacts = Readonly<ReturnType<typeof nodeFacts>>;

export const nodeFacts = once((node) => {
  const { name, uid, labels = {}, annotations = {} } = node.metadata;
  const ready = list(at(node, 'status', 'conditions')).find((condition) => at(condition, 'type') === 'Ready');
  const image = text(at(node, 'status', 'nodeInfo', 'osImage')) ?? '';
  const signs = [
    ...SIGN_LABELS.map((key) => [key, labels[key]] as const),
    ...SIGN_ANNOTATIONS.map((key) => [key, annotations[key]] as const),
  ].filter((sign): sign is [string, string] => sign[1] !== undefined);
  return {
    name,
    uid,
    cordoned: at(node, 'spec', 'unschedulable') === true,
    marks: marksIn(annotations[MARKS]),
    labels,
    managed: labels['bottlerocket.aws/updater-interface-version'] === '2.0.0',
    held: annotations[`${GROUP}/hold`] !== undefined,
    /** Somebody asks for its update, or that it tries again after the failure of that time. */
    isAskedFor: annotations[`${GROUP}/update-now`] !== undefined,
    retryOf: annotations[`${GROUP}/retry`],
    ready: at(ready, 'status') === 'True',
    version: /^Bottlerocket OS (\d+\.\d+\.\d+\S*)/.exec(image)?.[1],
    /** Nodes of one variant and architecture are offered the same releases. */
    family: `${/\(([^)]*)\)/.exec(image)?.[1] ?? ''}/${labels['kubernetes.io/arch'] ?? ''}`,
    volumesInUse: list(at(node, 'status', 'volumesInUse')).map(String),
    /** What a policy may call it unwell by, as texts. */
    troubles: troublesOf(node),
    /** Labels and annotations that the operator sets while a node is updated, by name. */
    signs: new Map(signs),
    /** Keys of the operator's taints. */
    taints: taintsOf(node).filter((key) => key.startsWith(GROUP)),
    /** Those of others. */
    othersTaints: taintsOf(node).filter((key) => !key.startsWith(GROUP)),
  };
});

/** Of those that these worlds have. */
const troublesOf = (node: KubeObject): readonly string[] => [
  ...list(at(node, 'status', 'conditions')).flatMap((one) =>
    at(one, 'type') === 'example.com/broken' && at(one, 'status') !== 'False' ? ['condition'] : [],
  ),
  ...taintsOf(node).flatMap((key) => (key === 'example.com/broken' ? ['taint'] : [])),
];

const taintsOf = (node: KubeObject): readonly string[] =>
  list(at(node, 'spec', 'taints')).map((one) => text(at(one, 'key')) ?? '');

/** Marks that nobody can read are marks. */
function marksIn(json: string | undefined) {
  if (json === undefined) return undefined;
  const marks = parsed(json);
  return {
    text: json,
    id: text(at(marks, 'id')) ?? '',
    owns: list(at(marks, 'owns')).map(String),
    newestPod: text(at(marks, 'newestPod')),
    /** Differs between two proofs. */
    proof: text(at(marks, 'proof')),
    /** Since when its volumes are waited for, milliseconds since the Unix epoch; NaN where they are not. */
    volumesSince: Date.parse(text(at(marks, 'volumesSince')) ?? ''),
  };
}

export type ShadowFacts = Readonly<ReturnType<typeof shadowFacts>>;

export const shadowFacts = once((shadow) => {
  const { name, uid, annotations = {}, ownerReferences = [] } = shadow.metadata;
  const state = text(at(shadow, 'spec', 'state')) ?? 'Idle';
  const status = statusIn(at(shadow, 'status'));
  const [hint, since = ''] = annotations[`${GROUP}/stage`]?.split(' ') ?? [];
  const condition = list(at(shadow, 'status', 'conditions')).find((one) => at(one, 'type') === 'UpToDate');
  return {
    name,
    uid,
    /** Name of its node. */
    node: nodeOf(name),
    /** UIDs of the Nodes that own it. */
    owners: ownerReferences.filter(({ kind }) => kind === 'Node').map((owner) => owner.uid),
    state,
    version: text(at(shadow, 'spec', 'version')),
    status,
    verdict: condition as { readonly reason: string } | undefined,
    /** The version that it is to prepare ahead; and since when, milliseconds since the Unix epoch. */
    hint,
    hintedAt: Date.parse(since),
    /** What it ran when its update last began, and what it ran before that; and when an update was last finished, as it was written. */
    from: annotations[`${GROUP}/updated-from`],
    versionBefore: annotations[`${GROUP}/version-before`],
    finishedAt: annotations[`${GROUP}/last-update-finished`],
    /** What is wanted of its host's settings. */
    wish: wishIn(at(shadow, 'spec', 'version_wish')),
    /** It has a status, and is or is wanted to be elsewhere than at rest. */
    active: status !== undefined && (state !== 'Idle' || status.state !== 'Idle'),
  };
});

const wishIn = (wish: unknown) => ({
  lock: text(at(wish, 'version_lock')),
  ignoresWaves: at(wish, 'ignore_waves') === true,
});

/** L1: a write of spec that leaves Idle, or changes spec.version. */
export function isStart(before: ShadowFacts | undefined, after: ShadowFacts): boolean {
  if (after.state === 'Idle') return false;
  return before === undefined || before.state === 'Idle' || before.version !== after.version;
}

export type StatusFacts = Readonly<NonNullable<ReturnType<typeof statusIn>>>;

function statusIn(status: unknown) {
  const state = text(at(status, 'current_state'));
  if (state === undefined) return undefined;
  const failedText = text(at(status, 'state_transition_failure_timestamp'));
  const record = at(status, 'reboot');
  const sound = Number(at(status, 'finished', 'unasked_boots')) >= 2 ? undefined : at(status, 'current_version');
  return {
    state,
    current: text(at(status, 'current_version')) ?? '',
    target: text(at(status, 'target_version')) ?? '',
    crashes: Number(at(status, 'crash_count') ?? 0),
    /** When the last attempt failed, as the agent says; NaN where it says nothing. */
    failedAt: Date.parse(failedText ?? ''),
    failedText,
    failed: list(at(status, 'failed_versions')).flatMap((one) => (one === sound ? [] : String(one))),
    record: record ? recordIn(record) : undefined,
    draining: Boolean(at(status, 'drain')),
    /** Its agent prepares updates ahead. */
    prepares: at(status, 'staged') != null,
    /** What it has prepared ahead. */
    ahead: text(at(status, 'staged', 'version')),
    /** A look has found pods that cannot be evicted. */
    isBlocked: list(at(status, 'preflight', 'blocked_by')).length > 0,
    reason: text(at(status, 'last_failure', 'reason')),
    /** Since when its looks for updates fail, as its agent says. */
    cannotLookSince: text(at(status, 'check', 'failing_since')),
    failedOn: text(at(status, 'last_failure', 'version')),
  };
}

const recordIn = (record: unknown) => ({
  boot: text(at(record, 'boot_id')) ?? '',
  version: text(at(record, 'version')) ?? '',
  /** False for a probe. */
  requested: text(at(record, 'requested_at')) !== undefined,
});

export type LeaseFacts = Readonly<ReturnType<typeof leaseFacts>>;
export type PermitFacts = LeaseFacts['permits'][number];

export const leaseFacts = once((lease) => {
  const listed = lease.metadata.annotations?.[`${GROUP}/slots`];
  const permitsText = listed ?? '[]';
  const permits = list(parsed(permitsText)).map((permit) => ({
    shadow: String(at(permit, 'shadow')),
    nodeUid: String(at(permit, 'nodeUid')),
    /** Of the attempt, and what it is to install; an older controller names neither. */
    id: text(at(permit, 'id')),
    version: text(at(permit, 'version')),
    /** The bad end of the attempt, and that a reboot was asked for, as the controllers have noted them. */
    ended: text(at(permit, 'ended')),
    isAsked: text(at(permit, 'rebootAskedAt')) !== undefined,
  }));
  return {
    holder: text(at(lease, 'spec', 'holderIdentity')) ?? '',
    permits,
    permitsText,
    hasList: listed !== undefined,
  };
});

const NOBODYS: LeaseFacts = { holder: '', permits: [], permitsText: '[]', hasList: false };

/** One that is not there has no holder and no list. */
export const leaseOf = (lease: KubeObject | undefined): LeaseFacts => (lease ? leaseFacts(lease) : NOBODYS);

/** The list of permits as it stands there; undefined where there is none. */
export const listIn = ({ hasList, permitsText }: LeaseFacts): string | undefined => (hasList ? permitsText : undefined);

export type PodFacts = Readonly<ReturnType<typeof podFacts>>;

export const podFacts = once((pod) => {
  const { uid, name, namespace = '', labels = {}, annotations = {}, ownerReferences = [] } = pod.metadata;
  const ofDaemonSet = ownerReferences.some(({ kind, controller }) => kind === 'DaemonSet' && controller);
  const stays = ofDaemonSet || annotations['kubernetes.io/config.mirror'] !== undefined;
  const component = labels[`${GROUP}/component`];
  const ready = list(at(pod, 'status', 'conditions')).find((one) => at(one, 'type') === 'Ready');
  return {
    uid,
    key: `${namespace}/${name}`,
    node: text(at(pod, 'spec', 'nodeName')),
    /** A drain has to see it gone, unless it tolerates the cordon and came after it. */
    drained: !stays && !['Succeeded', 'Failed'].includes(String(at(pod, 'status', 'phase'))),
    toleratesCordon: list(at(pod, 'spec', 'tolerations')).some(toleratesCordon),
    /** Of the controller or the apiserver: these stay where nothing else could take them. */
    own: namespace === NAMESPACE && (component === 'apiserver' || component === 'brupop-controller'),
    ready: at(ready, 'status') === 'True',
    /** By when it should have ended; NaN where it is not ending. */
    due: Date.parse(String(pod.metadata.deletionTimestamp)),
  };
});

function toleratesCordon(toleration: unknown): boolean {
  const key = text(at(toleration, 'key')) ?? '';
  const effect = text(at(toleration, 'effect')) ?? '';
  const exists = at(toleration, 'operator') === 'Exists';
  if (effect !== '' && effect !== 'NoSchedule') return false;
  if (key === '') return exists;
  return key === 'node.kubernetes.io/unschedulable' && (exists || !text(at(toleration, 'value')));
}

/** Of `1.38.0` and the like: below 0 where `a` is older. Releases of Bottlerocket have three numbers. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const unequal = [0, 1, 2].find((index) => left?.[index] !== right?.[index]);
  return unequal === undefined ? 0 : (left?.[unequal] ?? 0) - (right?.[unequal] ?? 0);
}

export const isController = (by: string): boolean => /^controller-\d+$/.test(by);
export const isApiserver = (by: string): boolean => /^apiserver-\d+$/.test(by);
export const isAgent = (by: string): boolean => /^(upstream-)?agent-/.test(by);
export const isOperator = (by: string): boolean => isController(by) || isApiserver(by) || isAgent(by);
