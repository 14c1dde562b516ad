import {
  ANY_FAMILY,
  RELEASE_API_VERSION,
  RELEASE_KIND,
  releaseObjectName,
} from '../../../runtime/api/release/names.ts';
import { RELEASES_PATH, type ShadowObject, shadowsPath } from '../../../runtime/api/resources.ts';
import type { KubeObject, Node, Pod } from '../../../runtime/kube/objects.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import {
  CONTROLLER_LEASE,
  CONVERSION_DATA_ANNOTATION,
  GROUP,
  HOLD_ANNOTATION,
  MANAGED_LABEL,
  MANAGED_LABEL_VALUE,
  NAMESPACE,
  PAUSED_ANNOTATION,
  PLURAL,
  RETRY_ANNOTATION,
  shadowName,
  UPDATE_NOW_ANNOTATION,
} from '../../../runtime/api/shadow/names.ts';
import { POLICY_API_VERSION, POLICY_KIND, POLICY_PLURAL } from '../../../runtime/api/policy/names.ts';
import type { PolicySpec } from '../policies.ts';
import { BROKEN } from '../versions.ts';
import { oneOf } from './chance.ts';
import type { Hand } from './hand.ts';
import type { Timers } from './timers.ts';

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${CONTROLLER_LEASE}`;
const PERMITS = `${GROUP}/slots`;
const POLICIES = `/apis/${POLICY_API_VERSION}/${POLICY_PLURAL}`;
const nodePath = (node: string): string => `/api/v1/nodes/${node}`;
const shadowPathAsV1 = (node: string): string =>
  `/apis/${GROUP}/v1/namespaces/${NAMESPACE}/${PLURAL}/${shadowName(node)}`;
const shadowPath = (node: string): string => `${shadowsPath(NAMESPACE)}/${shadowName(node)}`;
const annotated = (key: string, value: string | null): object => ({ metadata: { annotations: { [key]: value } } });

/** What people write on a shadow with kubectl. */
const EDITS: readonly ((shadow: ShadowObject) => { readonly status?: boolean; readonly body: object })[] = [
  () => ({ body: annotated('example.com/note', 'looked at') }),
  () => ({ body: { metadata: { labels: { 'example.com/rack': 'b7' } } } }),
  () => ({ body: { spec: { state: 'Idle' } } }),
  () => ({ body: { spec: { state: 'Idle', version: null, state_transition_timestamp: null } } }),
  () => ({ status: true, body: { status: { crash_count: 0, state_transition_failure_timestamp: null } } }),
  () => ({ status: true, body: { status: { failed_versions: null, last_failure: null } } }),
];

/** Administrators. Each of their writes is on what was just read, as kubectl's are. */
export function createPeople(parts: { readonly hand: Hand; readonly timers: Timers; readonly random: Random }) {
  const { hand, timers, random } = parts;
  let notes = 0;
  const annotate = (path: string, key: string, value: string | null): void =>
    timers.do(() => hand.patch(path, annotated(key, value)));
  const cordon = (node: string, wanted: boolean): void => timers.do(() => setCordon(hand, node, wanted));
  const relabel = (node: string, labels: Readonly<Record<string, string | null>>): void =>
    timers.do(() => hand.patch(nodePath(node), { metadata: { labels } }));
  return {
    /** And half of them forget it. */
    cordon: (node: string, dice: Random) => {
      cordon(node, true);
      return dice() < 0.5 ? () => cordon(node, false) : undefined;
    },
    uncordon: (node: string, dice: Random) => {
      cordon(node, false);
      return dice() < 0.4 ? () => cordon(node, true) : undefined;
    },
    drain: (node: string) => {
      timers.do(() => drain(hand, node));
      return () => cordon(node, false);
    },
    unmanage: (node: string, dice: Random) => {
      const label = (value: string | null): void => relabel(node, { [MANAGED_LABEL]: value });
      label(null);
      return dice() < 0.9 ? () => label(MANAGED_LABEL_VALUE) : undefined;
    },
    hold: (node: string) => {
      annotate(nodePath(node), HOLD_ANNOTATION, 'true');
      return () => annotate(nodePath(node), HOLD_ANNOTATION, null);
    },
    pause: () => {
      annotate(`/api/v1/namespaces/${NAMESPACE}`, PAUSED_ANNOTATION, 'true');
      return () => annotate(`/api/v1/namespaces/${NAMESPACE}`, PAUSED_ANNOTATION, null);
    },
    deleteShadow: (node: string): void =>
      timers.do(() => hand.delete((random() < 0.3 ? shadowPathAsV1 : shadowPath)(node))),
    /** Nobody owns it, until what is returned is called, which deletes it. */
    disownShadow: (node: string) => {
      timers.do(() => hand.patch(shadowPath(node), { metadata: { ownerReferences: null } }));
      return () => timers.do(() => deleteDisowned(hand, node));
    },
    editAsV1: (node: string): void => timers.do(() => editAsV1(hand, node, random)),
    /** Its spec is Idle, whatever it was. */
    endUpdate: (node: string): void => timers.do(() => hand.patch(shadowPath(node), { spec: { state: 'Idle' } })),
    editShadow: (node: string, dice: Random): void => timers.do(() => edit(hand, node, dice)),
    annotateNode: (node: string): void => annotate(nodePath(node), 'example.com/seen', String((notes += 1))),
    askFor: (node: string, dice: Random): void => timers.do(() => askFor(hand, node, dice)),
    /** Somebody's watcher says of a node that it is broken, and takes that back. */
    sayBroken: (node: string) => {
      const say = (is: boolean): void => timers.do(() => sayBroken(hand, node, is));
      say(true);
      return () => say(false);
    },
    relabel,
    /** Writes what `change` makes of the spec; undefined is none, and no policy. Nothing happens where the kind is not installed. */
    changePolicy: (name: string, change: (spec: PolicySpec | undefined) => PolicySpec | undefined): void =>
      timers.do(() => changePolicy(hand, name, change)),
    /** Writes what `change` makes of what people say of a version, of every family. */
    changeRelease: (version: string, change: (spec: SaidOfRelease) => SaidOfRelease): void =>
      timers.do(() => changeRelease(hand, version, change)),
    stealLease: (): void => timers.do(() => hand.patch(LEASE, { spec: { holderIdentity: 'somebody-else' } })),
    annotateLease: (): void => annotate(LEASE, 'example.com/seen', String((notes += 1))),
    /** The list of permits becomes this; null = it is taken off. */
    writePermits: (list: string | null): void => annotate(LEASE, PERMITS, list),
    deleteLease: (): void => timers.do(() => hand.delete(LEASE)),
  };
}

/** kubectl writes nothing where a node is as it is wanted. */
async function setCordon(hand: Hand, node: string, wanted: boolean): Promise<void> {
  const present = await hand.get<Node>(nodePath(node));
  if (!present || (present.spec?.unschedulable === true) === wanted) return;
  await hand.patch(nodePath(node), { spec: { unschedulable: wanted ? true : null } }, 'strategic');
}

/** Each pod is asked once, whatever its budget says. */
async function drain(hand: Hand, node: string): Promise<void> {
  await setCordon(hand, node, true);
  const pods = await hand.get<{ readonly items: readonly Pod[] }>('/api/v1/pods');
  for (const { metadata, spec } of pods?.items ?? []) {
    const { name, namespace, ownerReferences = [] } = metadata;
    if (spec?.nodeName !== node || ownerReferences.some(({ kind }) => kind === 'DaemonSet')) continue;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`;
    await hand.create(path, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } });
  }
}

/** Its update comes next; where it has failed, it is tried again, mostly. Some have looked before that failure, and name another one. */
async function askFor(hand: Hand, node: string, random: Random): Promise<void> {
  const { status } = (await hand.get<ShadowObject>(shadowPath(node))) ?? {};
  const failedAt = status?.state_transition_failure_timestamp;
  if (failedAt == null || random() < 0.3)
    return void (await hand.patch(nodePath(node), annotated(UPDATE_NOW_ANNOTATION, 'ann')));
  const named = random() < 0.5 ? failedAt : '2026-01-01T00:00:00Z';
  await hand.patch(nodePath(node), annotated(RETRY_ANNOTATION, named));
}

async function sayBroken(hand: Hand, node: string, is: boolean): Promise<void> {
  const present = await hand.get<Node>(nodePath(node));
  if (!present) return;
  const others = (present.spec?.taints ?? []).filter(({ key }) => key !== BROKEN);
  const taints = is ? [...others, { key: BROKEN, effect: 'PreferNoSchedule' }] : others;
  await hand.patch(nodePath(node), { spec: { taints } });
  const condition = { type: BROKEN, status: is ? 'True' : 'False', reason: 'Watched', message: 'as it is' };
  await hand.patch(`${nodePath(node)}/status`, { status: { conditions: [condition] } }, 'strategic');
}

/** As the manual says: its agent makes another. */
async function deleteDisowned(hand: Hand, node: string): Promise<void> {
  const shadow = await hand.get(shadowPath(node));
  if (shadow && (shadow.metadata.ownerReferences ?? []).length === 0) await hand.delete(shadowPath(node));
}

async function edit(hand: Hand, node: string, random: Random): Promise<void> {
  const shadow = await hand.get<ShadowObject>(shadowPath(node));
  if (!shadow) return;
  const { status = false, body } = oneOf(random, EDITS)(shadow);
  // An agent has not reported yet: kubectl says that there is no status to edit.
  if (status && !shadow.status) return;
  await hand.patch(`${shadowPath(node)}${status ? '/status' : ''}`, body);
}

/** As `kubectl edit` does it: what is null in a spec stays so. */
async function changePolicy(
  hand: Hand,
  name: string,
  change: (spec: PolicySpec | undefined) => PolicySpec | undefined,
): Promise<void> {
  const path = `${POLICIES}/${name}`;
  const policy = await hand.get<KubeObject & { readonly spec: PolicySpec }>(path);
  const spec = change(policy?.spec);
  if (policy && !spec) await hand.delete(path);
  else if (policy) await hand.replace(path, { ...policy, spec });
  else if (spec)
    await hand.create(POLICIES, { apiVersion: POLICY_API_VERSION, kind: POLICY_KIND, metadata: { name }, spec });
}

/** What people say of a release. */
export type SaidOfRelease = Readonly<Partial<Record<'approvedFor' | 'rollbackFor', readonly string[]>>>;

async function changeRelease(
  hand: Hand,
  version: string,
  change: (spec: SaidOfRelease) => SaidOfRelease,
): Promise<void> {
  const of = { family: ANY_FAMILY, version };
  const name = releaseObjectName(of);
  const release = await hand.get<KubeObject & { readonly spec: SaidOfRelease }>(`${RELEASES_PATH}/${name}`);
  const spec = { ...of, ...change(release?.spec ?? {}) };
  if (release) await hand.patch(`${RELEASES_PATH}/${name}`, { spec });
  else
    await hand.create(RELEASES_PATH, {
      apiVersion: RELEASE_API_VERSION,
      kind: RELEASE_KIND,
      metadata: { name },
      spec,
    });
}

/** It is read and written back as v1, by some to end its update. Most clients keep annotations that they know nothing of, and some do not. */
async function editAsV1(hand: Hand, node: string, random: Random): Promise<void> {
  const path = shadowPathAsV1(node);
  const shadow = await hand.get<ShadowObject>(path);
  if (!shadow) return;
  const { [CONVERSION_DATA_ANNOTATION]: _, ...others } = shadow.metadata.annotations ?? {};
  const dice = random();
  const write = (annotations: object, spec: ShadowObject['spec'] = shadow.spec) =>
    hand.replace(path, { ...shadow, metadata: { ...shadow.metadata, annotations }, spec });
  const kept = { ...shadow.metadata.annotations, 'example.com/seen-as': 'v1' };
  if (dice < 0.5) await write(kept);
  else if (dice < 0.75)
    await write({ ...kept, 'example.com/seen-as': 'v1, and ended' }, { ...shadow.spec, state: 'Idle' });
  else await write({ ...others, 'example.com/seen-as': 'v1, as far as it is known' });
}
