import { isDeepStrictEqual } from 'node:util';
import { listAll, listPages, queryOf, SMALL_PAGE_SIZE } from '../../kube/collection.ts';
import { isReady, type Node, type Pod, readySince } from '../../kube/objects.ts';
import { onNode, podsPath } from '../../kube/resources.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { joinParts, shortened } from '../../lib/parts.ts';
import { getOrInsert } from '../../lib/maps.ts';
import { MAX_WORSE, type WorkloadEvidence } from '../../api/shadow/evidence.ts';
import { versionOfOsImage } from '../../api/shadow/semver.ts';
import type { VerifiedAgent } from '../auth/authenticator.ts';
import type { Ports } from '../ports.ts';
import type { NodeSnapshot } from '../rules.ts';
import { retryOnConflict, takeSnapshot } from '../snapshot.ts';
import { whyWorse } from './evidence.ts';
import { GRACE_MS, type Witness, witnessOf } from './pods.ts';

/** Owners whose pods are compared in one look, peers of one owner that are read, and nodes of these: a release that breaks everything is seen by a few. */
const MOST_OWNERS = 5;
const MOST_PEERS = 100;
const MOST_NODES = 20;

/**
 * Compares the pods of a node that was updated with those of the same owners on nodes that were not, and says in the shadow's status what is clearly worse.
 * Its agent asks while its release is to prove itself. A look costs the pods of the node, and where some ail a page of their peers and a few Nodes.
 */
export function lookAtWorkloads(ports: Ports, agent: VerifiedAgent): Promise<void> {
  return retryOnConflict(async () => {
    const snapshot = await takeSnapshot(ports, agent);
    const worse = isWanted(snapshot, ports.clock.now()) ? await worseOn(ports, snapshot) : [];
    const text = worse.length === 0 ? null : shortened(joinParts(worse), MAX_WORSE);
    await say(ports, snapshot, text);
  });
}

/** A release that has to prove itself is what the node has come to run, and it is up for long enough to be judged. */
function isWanted({ node, shadow: { spec, status } }: NodeSnapshot, now: number): boolean {
  const isAsked = (instantOf(spec.compare_until) ?? -Infinity) > now;
  const isBack = spec.state === 'Idle' || spec.state === 'MonitoringUpdate';
  const runs = versionOfOsImage(node.status?.nodeInfo?.osImage) === status?.current_version;
  return isAsked && isBack && runs && now - (readySince(node) ?? now) >= GRACE_MS;
}

async function worseOn(ports: Ports, { node, shadow }: NodeSnapshot): Promise<readonly string[]> {
  const { transport, clock } = ports;
  const now = clock.now();
  const project = (pod: Pod): Witness | undefined => witnessOf(pod, now);
  const query = { ...queryOf({ fieldSelector: onNode(node.metadata.name) }), resourceVersion: '0' };
  const pods = await listAll(transport, { path: podsPath(), query, project, pageSize: SMALL_PAGE_SIZE });
  const before = new Set(shadow.status?.unready_before);
  const here = pods.flatMap((pod) => (pod && !before.has(pod.owner.uid) ? pod : []));
  const ailing = here.filter(({ health }) => health !== undefined && health !== 'well');
  const byOwner = [...Map.groupBy(ailing, ({ owner }) => owner.uid).values()].slice(0, MOST_OWNERS);
  const versions = new Versions(ports);
  const found = byOwner.map(async ([one]) => {
    if (!one) return [];
    const own = here.filter(({ owner }) => owner.uid === one.owner.uid);
    const peers = await peersOf(transport, one, project);
    const sides = await versions.sidesOf(peers, shadow.status?.current_version ?? '');
    return whyWorse({ here: own, ...sides }) ?? [];
  });
  return (await Promise.all(found)).flat();
}

/** Pods of the same owner and revision on other nodes: a page of them. */
async function peersOf(
  transport: KubeTransport,
  { name, owner, labels, node }: Witness,
  project: (pod: Pod) => Witness | undefined,
): Promise<readonly Witness[]> {
  const [namespace] = name.split('/');
  const labelSelector = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  if (labelSelector === '') return [];
  const query = queryOf({ labelSelector });
  const path = podsPath(namespace);
  for await (const { items } of listPages(transport, { path, query, project, pageSize: MOST_PEERS }))
    return items.flatMap((pod) => (pod && pod.owner.uid === owner.uid && pod.node !== node ? pod : []));
  return [];
}

/** What the nodes of peers run, each read once. */
class Versions {
  readonly #nodes: Ports['nodes'];
  readonly #known = new Map<string, Promise<string | undefined>>();

  constructor({ nodes }: Pick<Ports, 'nodes'>) {
    this.#nodes = nodes;
  }

  /** A node that is not Ready tells nothing of its pods. */
  async sidesOf(
    peers: readonly Witness[],
    version: string,
  ): Promise<{ readonly updated: readonly Witness[]; readonly elsewhere: readonly Witness[] }> {
    const known = await Promise.all(peers.map(async (peer) => ({ peer, runs: await this.#of(peer.node) })));
    return {
      updated: known.flatMap(({ peer, runs }) => (runs === version ? peer : [])),
      elsewhere: known.flatMap(({ peer, runs }) => (runs !== undefined && runs !== version ? peer : [])),
    };
  }

  #of(name: string): Promise<string | undefined> {
    const isMore = this.#known.size < MOST_NODES;
    return getOrInsert(this.#known, name, () => (isMore ? this.#read(name) : Promise.resolve(undefined)));
  }

  async #read(name: string): Promise<string | undefined> {
    const node = await this.#nodes.get(name);
    return node && isReady({ status: node.status ?? {} })
      ? versionOfOsImage(node.status?.nodeInfo?.osImage)
      : undefined;
  }
}

async function say(ports: Ports, { node, shadow }: NodeSnapshot, worse: string | null): Promise<void> {
  ports.metrics.looks.inc({ result: worse === null ? 'well' : 'worse' });
  const said = shadow.status?.workloads ?? null;
  const workloads = worse === null ? null : evidenceOf(shadow, worse, ports.clock.now());
  if (isDeepStrictEqual(said, workloads)) return;
  const { name, resourceVersion } = shadow.metadata;
  await ports.shadows.patchStatus(name, { metadata: { resourceVersion }, status: { workloads } });
  if (workloads) tellWorse(ports, node, workloads);
}

function evidenceOf({ status }: NodeSnapshot['shadow'], worse: string, now: number): WorkloadEvidence {
  const { workloads: said, current_version: version = '' } = status ?? {};
  return { version, since: said?.version === version ? said.since : rfc3339(now), worse };
}

function tellWorse({ events, logger }: Ports, node: Node, { version, worse }: WorkloadEvidence): void {
  void events.record(node, { type: 'Warning', reason: 'WorkloadsWorse', message: `On ${version}: ${worse}` });
  logger.warn('pods are worse on an updated node than elsewhere', { node: node.metadata.name, version, worse });
}
