import { shadowsPath } from '../../../runtime/api/resources.ts';
import type { Node } from '../../../runtime/kube/objects.ts';
import { rfc3339 } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { LB_LABEL, LB_VALUE, MARKS_ANNOTATION, UPDATING_LABEL } from '../../../runtime/api/marks/names.ts';
import {
  API_VERSION,
  CONTROLLER_LEASE,
  CRD_NAME,
  GROUP,
  HOLD_ANNOTATION,
  KIND,
  MANAGED_LABEL,
  MANAGED_LABEL_VALUE,
  NAMESPACE,
  shadowName,
} from '../../../runtime/api/shadow/names.ts';
import { MINUTE } from '../units.ts';
import { oneOf, shuffled } from './chance.ts';
import { lostStatus, ownLabels } from '../../sim/kubernetes/kubelet/node-status.ts';
import { archOf, type Family, osImageOf } from './family.ts';
import type { Hand } from './hand.ts';

/** What a node has behind it when the run begins. */
export type Beginning =
  /** Its machine has been off for a month: at rest, or in the middle of an update. */
  | 'dead'
  | 'dead-in-update'
  /** Marks of an update that somebody else has brought to an end, or has lost. */
  | 'marked'
  /** An administrator has cordoned it. */
  | 'cordoned'
  | 'held'
  | 'unmanaged'
  /** The older operator was at work on it: cordoned, excluded from load balancers, without marks. */
  | 'older-operator'
  /** It has told it to update, a moment ago. */
  | 'started'
  /** Its updates have failed before. */
  | 'failed'
  /** It has been at rest with a shadow that only v1 has ever described. */
  | 'known';

const TROUBLED: readonly Beginning[] = [
  'dead',
  'dead',
  'dead-in-update',
  'marked',
  'cordoned',
  'held',
  'unmanaged',
  'older-operator',
  'started',
  'failed',
];
export const MONTH_MS = 30 * 24 * 3600 * 1000;
const OLD_BOOT = '00000000-0000-4000-8000-000000000000';

/** What is in the cluster besides, when the run begins. */
export interface Past {
  readonly nodes: ReadonlyMap<string, Beginning>;
  /** The shadow of a node that is gone, restored from a backup: without an owner. */
  readonly hasGhost: boolean;
  readonly isStoredAsV1: boolean;
  /** What an older controller has left of its Lease, which it does not renew any more. */
  readonly lease: 'none' | 'without-list' | 'with-list' | 'with-empty-list';
}

/** Most fleets begin at rest, and none with more than a third of its nodes in trouble. */
export function drawPast(nodes: readonly string[], random: Random): Past {
  const share = oneOf(random, [0, 0, 0.1, 0.33]);
  const troubled = shuffled(random, nodes).slice(0, Math.floor(share * nodes.length));
  const isKnown = random() < 0.4;
  const known = isKnown ? nodes.map((node) => [node, 'known'] as const) : [];
  return {
    nodes: new Map<string, Beginning>([...known, ...troubled.map((node) => [node, oneOf(random, TROUBLED)] as const)]),
    hasGhost: random() < 0.1,
    isStoredAsV1: isKnown && random() < 0.5,
    lease: oneOf(random, ['none', 'none', 'without-list', 'with-list', 'with-empty-list'] as const),
  };
}

export interface PastParts {
  /** The operator that was there before, which is another one for the history. */
  readonly before: Hand;
  readonly person: Hand;
  readonly kubelet: (node: string) => Hand;
  readonly family: (node: string) => Family;
  readonly labels: (node: string) => Readonly<Record<string, string>>;
  /** What most machines run, and what those ran that were updated to that. */
  readonly version: string;
  readonly older: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export function isDead(beginning: Beginning | undefined): boolean {
  return beginning === 'dead' || beginning === 'dead-in-update';
}

/** What its machine runs when it boots. */
export function versionOf(beginning: Beginning | undefined, versions: Pick<PastParts, 'version' | 'older'>): string {
  const isOlder = beginning === 'older-operator' || beginning === 'started' || beginning === 'failed';
  return isOlder ? versions.older : versions.version;
}

interface Left {
  readonly spec: {
    readonly state: string;
    readonly version?: string;
    readonly state_transition_timestamp?: string;
  };
  readonly status: object;
}

/** Makes the cluster what it is when the run begins. */
export async function leave({ nodes, hasGhost, isStoredAsV1, lease }: Past, parts: PastParts): Promise<void> {
  const { before, version } = parts;
  const permits: object[] = [];
  for (const [name, beginning] of nodes) permits.push(...(await leaveNode(name, beginning, parts)));
  const lists = { 'without-list': undefined, 'with-list': permits, 'with-empty-list': [] };
  if (lease !== 'none') await leaveLease(before, lists[lease]);
  if (hasGhost) await shadow(before, { name: 'ghost' }, { spec: { state: 'Idle' }, status: atRest(version) });
  const definition = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}/status`;
  if (isStoredAsV1) await before.patch(definition, { status: { storedVersions: ['v1', 'v2'] } });
}

/** @returns its permit, as an older controller would write it, where its update is under way */
async function leaveNode(name: string, beginning: Beginning, parts: PastParts): Promise<readonly object[]> {
  const { before, kubelet, now } = parts;
  const family = parts.family(name);
  const labels = {
    ...ownLabels(name, archOf(family)),
    ...parts.labels(name),
    ...(beginning !== 'unmanaged' && { [MANAGED_LABEL]: MANAGED_LABEL_VALUE }),
  };
  const made = await kubelet(name).create<Node>('/api/v1/nodes', { metadata: { name, labels }, spec: {} });
  if (!made) return [];
  const left = leftOn(beginning, parts);
  if (left) await shadow(before, made.metadata, left);
  await change(name, beginning, parts);
  const permit = { shadow: shadowName(name), nodeUid: made.metadata.uid, starts: 1, since: rfc3339(now - MINUTE) };
  const permits = left && left.spec.state !== 'Idle' ? [permit] : [];
  if (!isDead(beginning)) return permits;
  const osImage = osImageOf(family, parts.version);
  const status = { ...lostStatus(made, now - MONTH_MS), nodeInfo: { osImage, bootID: OLD_BOOT } };
  await kubelet(name).patch(`/api/v1/nodes/${name}/status`, { status }, 'strategic');
  return permits;
}

async function leaveLease(before: Hand, permits: readonly object[] | undefined): Promise<void> {
  const annotations = permits && { [`${GROUP}/slots`]: JSON.stringify(permits) };
  await before.create(`/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`, {
    metadata: { name: CONTROLLER_LEASE, namespace: NAMESPACE, ...(annotations && { annotations }) },
    spec: { holderIdentity: 'older-controller', leaseDurationSeconds: 15, leaseTransitions: 3 },
  });
}

/** What was written on the Node, and by whom. */
async function change(name: string, beginning: Beginning, { before, person, now }: PastParts): Promise<void> {
  const path = `/api/v1/nodes/${name}`;
  const cordon = { spec: { unschedulable: true } };
  if (beginning === 'cordoned') await person.patch(path, cordon);
  if (beginning === 'held') await person.patch(path, { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
  if (beginning === 'older-operator')
    await before.patch(path, { ...cordon, metadata: { labels: { [LB_LABEL]: LB_VALUE } } });
  if (beginning !== 'marked' && beginning !== 'dead-in-update') return;
  const since = rfc3339(now - MONTH_MS);
  const drained = beginning === 'dead-in-update' ? { drained: since, proof: 'p' } : {};
  // A newer version of the operator has written these, and was rolled back.
  const owns = ['cordon', ...(beginning === 'marked' ? ['traffic'] : [])];
  const marks = { id: 'm', since, boot: OLD_BOOT, newestPod: since, owns, ...drained };
  const metadata = { annotations: { [MARKS_ANNOTATION]: JSON.stringify(marks) }, labels: { [UPDATING_LABEL]: 'true' } };
  await before.patch(path, { ...cordon, metadata });
}

function leftOn(beginning: Beginning, { version, older, now }: PastParts): Left | undefined {
  const at = rfc3339(now - MONTH_MS);
  const wanted = { version, state_transition_timestamp: at };
  const staged = { ...atRest(older), target_version: version, current_state: 'StagedAndPerformedUpdate' };
  const rest: Left = { spec: { state: 'Idle' }, status: atRest(version) };
  const kinds: Partial<Record<Beginning, Left>> = {
    dead: rest,
    known: rest,
    marked: rest,
    'older-operator': { spec: { state: 'RebootedIntoUpdate', ...wanted }, status: staged },
    started: {
      spec: { state: 'StagedAndPerformedUpdate', version, state_transition_timestamp: rfc3339(now) },
      status: { ...atRest(older), target_version: version },
    },
    failed: {
      spec: { state: 'StagedAndPerformedUpdate', ...wanted },
      status: { ...staged, current_state: 'ErrorReset', crash_count: 3, state_transition_failure_timestamp: at },
    },
    'dead-in-update': {
      spec: { state: 'RebootedIntoUpdate', ...wanted },
      status: {
        ...staged,
        reboot: { boot_id: OLD_BOOT, version, requested_at: at },
        drain: { started_at: at, pods_left: 0, blocked_by: [] },
      },
    },
  };
  return kinds[beginning];
}

function atRest(version: string): object {
  return { current_version: version, target_version: version, current_state: 'Idle', crash_count: 0 };
}

/** With an owner where there is one. */
async function shadow(
  before: Hand,
  { name, uid }: { name: string; uid?: string },
  { spec, status }: Left,
): Promise<void> {
  const ownerReferences = uid === undefined ? [] : [{ apiVersion: 'v1', kind: 'Node', name, uid }];
  const metadata = { name: shadowName(name), namespace: NAMESPACE, ownerReferences };
  const path = shadowsPath(NAMESPACE);
  await before.create(path, { apiVersion: API_VERSION, kind: KIND, metadata, spec });
  await before.patch(`${path}/${shadowName(name)}/status`, { status });
}
