import { isDeepStrictEqual } from 'node:util';
import type { ShadowObject } from '../../api/resources.ts';
import { type DisplacedOwner, type DisplacedWorkloads, MAX_OWNERS } from '../../api/shadow/displaced.ts';
import type { AgentStatus, Status } from '../../api/shadow/model.ts';
import { Collection, listAll, queryOf, SMALL_PAGE_SIZE } from '../../kube/collection.ts';
import { isDefinite } from '../../kube/errors.ts';
import { isPodTerminal, isReady, type Pod, waitingReasons, type Workload } from '../../kube/objects.ts';
import { collectionPath } from '../../kube/paths.ts';
import { podsPath } from '../../kube/resources.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { inParallel } from '../../lib/parallel.ts';
import { podsLeft } from '../../drain/filter.ts';
import type { Drain } from '../../drain/drain.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Ports } from '../ports.ts';
import type { Stored } from '../status-patch.ts';
import { expectOwnShadow, retryOnConflict } from '../snapshot.ts';

type OwnerPorts = Pick<Ports, 'transport' | 'logger'>;

/** Their kinds, by which of the API's collections has them. Jobs do not come back, and pods of DaemonSets are not evicted. */
const PLURALS: Readonly<Record<string, string>> = { ReplicaSet: 'replicasets', StatefulSet: 'statefulsets' };

/** Reads of one drain at once. */
const AT_ONCE = 5;

/**
 * Whose pods a drain that begins is about to evict, how many of each owner's were ready, and what covers them. One that has begun before in this
 * attempt, as in another boot, may have displaced some already: then what was known counts. What cannot be read is not waited for. Never rejects.
 */
export async function displacedBy(
  ports: OwnerPorts,
  { list, cover }: Pick<Drain, 'list' | 'cover'>,
  { status }: ShadowObject,
): Promise<DisplacedWorkloads | null> {
  const known = new Map((status?.displaced?.owners ?? []).map((owner) => [owner.uid, owner]));
  const owners = ownersOf(list).filter(({ uid }) => !known.has(uid));
  const found = await inParallel(owners.slice(0, MAX_OWNERS), AT_ONCE, async (owner) => {
    const ready = readyOf(await read(ports, owner).catch(() => undefined));
    return ready > 0 ? [{ ...owner, ready }] : [];
  });
  const all = [...known.values(), ...found.flat()].slice(0, MAX_OWNERS);
  if (all.length === 0 && cover.length === 0) return null;
  return { owners: all, looked_at: null, missing: [], budgets: cover.length > 0 ? [...cover] : null };
}

type Owner = Omit<DisplacedOwner, 'ready'>;

function ownersOf(list: Drain['list']): readonly Owner[] {
  const owners = podsLeft(list).flatMap(({ namespace, controller }) => {
    const isOurs = controller?.apiVersion.startsWith('apps/') === true && PLURALS[controller.kind] !== undefined;
    return isOurs ? { kind: controller.kind, namespace, name: controller.name, uid: controller.uid } : [];
  });
  return [...new Map(owners.map((owner) => [owner.uid, owner])).values()];
}

/** Undefined where it is gone, also where another has taken its name. */
async function read({ transport }: OwnerPorts, { kind, namespace, name, uid }: Owner): Promise<Workload | undefined> {
  const path = collectionPath({ group: 'apps', version: 'v1', plural: PLURALS[kind] ?? '', namespace });
  const found = await new Collection<Workload>(transport, path).get(name);
  return found?.metadata.uid === uid && found.metadata.deletionTimestamp === undefined ? found : undefined;
}

const readyOf = (owner: Workload | undefined): number => owner?.status?.readyReplicas ?? 0;

/**
 * What the status says of it with which the agent reports that it is back: mostly all of it is, and then nobody waits. Nothing otherwise, since what
 * is missing is for an agent to say that looks again, and an older one does not (M10). Never rejects.
 */
export async function displacedOnReturn(
  ports: Pick<Ports, 'transport' | 'logger'>,
  { current_state: reached }: Pick<AgentStatus, 'current_state'>,
  { status }: Pick<Stored, 'status'>,
): Promise<Pick<Status, 'displaced'>> {
  const isNew = reached === 'MonitoringUpdate' && status?.current_state !== reached;
  if (!isNew || !status?.displaced) return {};
  const missing = inParallel(status.displaced.owners, AT_ONCE, async (owner) =>
    isBack(await read(ports, owner), owner) ? [] : owner,
  );
  return missing.then(
    (owners) => (owners.flat().length === 0 ? { displaced: null } : {}),
    () => ({}),
  );
}

/** As many are ready as there were, or as it is to have now. */
const wantedOf = (now: Workload | undefined, { ready }: DisplacedOwner): number =>
  now ? Math.min(now.spec?.replicas ?? 1, ready) : 0;
const isBack = (now: Workload | undefined, before: DisplacedOwner): boolean => readyOf(now) >= wantedOf(now, before);

/**
 * Looks whether what the last drain has displaced is back, and writes down what is not (`status.displaced`). The agent of the node asks for it for
 * as long as something is missing. So it costs no right that evicting pods does not take anyway, and nobody keeps a list.
 * @throws RefusedError 409 where the node has no shadow; the transport's errors
 */
export async function lookForDisplaced(ports: Ports, agent: VerifiedAgent): Promise<void> {
  await retryOnConflict(async () => {
    const { metadata, spec, status } = await expectOwnShadow(ports, agent);
    const before = status?.displaced;
    if (!before || spec.state !== 'MonitoringUpdate') return;
    const displaced = await missingOf(ports, before);
    if (displaced && isSaid(displaced, before)) return;
    const { name, resourceVersion } = metadata;
    await ports.shadows.patchStatus(name, { metadata: { resourceVersion }, status: { displaced } });
  });
}

/** How old what was said may be before it is said again: each change of the shadow wakes its agent. */
const SAID_AGAIN_MS = 30_000;

const isSaid = (now: DisplacedWorkloads, { looked_at, ...before }: DisplacedWorkloads): boolean =>
  isDeepStrictEqual({ ...now, looked_at }, { ...before, looked_at }) &&
  (instantOf(now.looked_at) ?? 0) - (instantOf(looked_at) ?? 0) < SAID_AGAIN_MS;

/** Null where all are back. An owner that is gone, or has been told to have fewer pods, is waited for no longer. */
async function missingOf(ports: Ports, before: DisplacedWorkloads): Promise<DisplacedWorkloads | null> {
  const found = await inParallel(before.owners, AT_ONCE, async (owner) => {
    const text = await whatIsMissing(ports, owner);
    return text === undefined ? [] : [{ owner, text }];
  });
  const missing = found.flat();
  if (missing.length === 0) return null;
  return {
    ...before,
    owners: missing.map(({ owner }) => owner),
    looked_at: rfc3339(ports.clock.now()),
    missing: missing.map(({ text }) => text).toSorted(),
  };
}

/** In words that change only when the facts do; undefined where it is as it was. An answer that says no, as for a right that we lack, ends the wait for it. */
async function whatIsMissing(ports: OwnerPorts, owner: DisplacedOwner): Promise<string | undefined> {
  const { kind, namespace, name } = owner;
  try {
    const now = await read(ports, owner);
    if (!now || isBack(now, owner)) return undefined;
    const why = await whyNotReady(ports, owner, now).catch(() => undefined);
    return `${kind} ${namespace}/${name}: ${readyOf(now)} of ${wantedOf(now, owner)} ready${why === undefined ? '' : ` (${why})`}`;
  } catch (error) {
    if (!isDefinite(error)) throw error;
    ports.logger.warn('owner of evicted pods not read', { owner: `${namespace}/${name}`, error });
    return undefined;
  }
}

/** What its pods say that are not ready, the first by words; undefined where none says anything. */
async function whyNotReady(
  { transport }: OwnerPorts,
  { uid, namespace }: Owner,
  { spec, status }: Workload,
): Promise<string | undefined> {
  const labelSelector = Object.entries(spec?.selector?.matchLabels ?? {}).map((pair) => pair.join('='));
  const project = (pod: Pod): string | undefined => {
    const isOwn = pod.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
    return isOwn && !isReady(pod) && !isPodTerminal(pod) ? reasonOf(pod) : undefined;
  };
  const query = queryOf({ labelSelector: labelSelector.join(',') });
  const pods = await listAll(transport, { path: podsPath(namespace), query, project, pageSize: SMALL_PAGE_SIZE });
  const [first] = pods.filter((reason) => reason !== undefined).toSorted();
  const failing = status?.conditions?.find(({ type, status: value }) => type === 'ReplicaFailure' && value === 'True');
  return first ?? failing?.reason ?? undefined;
}

/** In one word, as kubectl shows it. */
function reasonOf({ metadata, status = {} }: Pod): string {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { phase = 'Pending', conditions } = status;
  const unplaced = conditions?.find(({ type, status: value }) => type === 'PodScheduled' && value === 'False');
  return waitingReasons({ status })[0] ?? unplaced?.reason ?? (phase === 'Running' ? 'NotReady' : phase);
}
