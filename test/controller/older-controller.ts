import * as z from 'zod';
import { readMarks } from '../../runtime/api/marks/marks.ts';
import { RELEASED_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { type ShadowObject, shadowsOf } from '../../runtime/api/resources.ts';
import type { Spec } from '../../runtime/api/shadow/model.ts';
import { CONTROLLER_LEASE, HOLD_ANNOTATION, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { nextState } from '../../runtime/api/shadow/states.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { BUMPED_ANNOTATION } from '../../runtime/controller/writing/actions/fencing.ts';
import type { Collection } from '../../runtime/kube/collection.ts';
import { LeaderElection } from '../../runtime/kube/leader-election.ts';
import type { Lease, Node } from '../../runtime/kube/objects.ts';
import { leasesOf, nodesOf } from '../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { type Clock, rfc3339 } from '../../runtime/lib/clock.ts';
import { silentLogger as logger } from '../../runtime/lib/log.ts';
import type { Random } from '../../runtime/lib/random.ts';

/** How controllers read and wrote the list before a permit said what it was given for. What else a permit says is dropped. */
export const olderPermits = z.array(
  z.object({
    shadow: z.string(),
    nodeUid: z.string(),
    starts: z.int().min(1).catch(1),
    since: z.iso.datetime().optional().catch(undefined),
  }),
);
type OlderPermit = z.infer<typeof olderPermits>[number];

interface Options {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly identity: string;
  readonly concurrency: number;
}

/** The cluster as one look at it has found it, the list of permits first. */
interface Seen {
  readonly lease: Lease;
  readonly permits: readonly OlderPermit[];
  readonly shadows: ReadonlyMap<string, ShadowObject>;
  readonly nodes: readonly Node[];
}

const keyOf = ({ nodeUid, starts }: OlderPermit): string => `${nodeUid} ${starts}`;
const isIdle = ({ spec, status }: ShadowObject): boolean => spec.state === 'Idle' && status?.current_state === 'Idle';
const ownerOf = ({ metadata }: ShadowObject): string | undefined => metadata.ownerReferences?.[0]?.uid;

/**
 * A controller of an older release of ours, as the contract between the two has it: it leads by the Lease (L5), starts nothing without a permit (L1),
 * bumps what it finds (L4), frees in three steps (L3). It knows nothing of policies, ledgers of releases, requests of people, or what permits say besides.
 */
export class OlderController {
  readonly #options: Options;
  readonly #leases: ReturnType<typeof leasesOf>;
  readonly #shadows: Collection<ShadowObject>;
  readonly #nodes: ReturnType<typeof nodesOf>;
  /** Permits of which no write is under way that this term does not know of. */
  readonly #settled = new Set<string>();
  readonly #election: LeaderElection;

  constructor(options: Options) {
    const { transport, ...rest } = options;
    this.#options = options;
    this.#leases = leasesOf(transport, NAMESPACE);
    this.#shadows = shadowsOf(transport, NAMESPACE);
    this.#nodes = nodesOf(transport);
    const onLeading = (signal: AbortSignal): Promise<void> => this.#lead(signal);
    this.#election = new LeaderElection({ ...rest, logger, leases: this.#leases, name: CONTROLLER_LEASE, onLeading });
  }

  get leading(): boolean {
    return this.#election.leading;
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#election.run(signal);
  }

  async #lead(signal: AbortSignal): Promise<void> {
    this.#settled.clear();
    while (!signal.aborted) {
      // What was refused, or not answered, is looked at again.
      await this.#act(signal).catch(() => undefined);
      await this.#options.clock.sleep(1000, signal).catch(() => undefined);
    }
  }

  async #act(signal: AbortSignal): Promise<void> {
    const seen = await this.#look(signal);
    if (!seen) return;
    for (const permit of seen.permits) if (!this.#settled.has(keyOf(permit))) return this.#bump(permit, seen, signal);
    const over = seen.permits.find((permit) => this.#isOver(permit, seen));
    if (over) return this.#free(over, seen, signal);
    for (const shadow of seen.shadows.values()) await this.#moveOn(shadow, signal);
    await this.#start(seen, signal);
  }

  async #look(signal: AbortSignal): Promise<Seen | undefined> {
    const lease = await this.#leases.get(CONTROLLER_LEASE, signal);
    if (lease?.spec?.holderIdentity !== this.#options.identity) return undefined;
    const permits = olderPermits.parse(JSON.parse(lease.metadata.annotations?.[PERMITS_ANNOTATION] ?? '[]'));
    const nodes = await this.#nodes.list({}, signal);
    const shadows = await this.#shadows.list({}, signal);
    return { lease, permits, nodes, shadows: new Map(shadows.map((one) => [one.metadata.name, one])) };
  }

  async #bump(permit: OlderPermit, { shadows }: Seen, signal: AbortSignal): Promise<void> {
    const { resourceVersion, annotations } = shadows.get(permit.shadow)?.metadata ?? {};
    const bumped = String(Number(annotations?.[BUMPED_ANNOTATION] ?? 0) + 1);
    const metadata = { resourceVersion, annotations: { [BUMPED_ANNOTATION]: bumped } };
    await this.#shadows.patch(permit.shadow, { metadata }, signal);
    this.#settled.add(keyOf(permit));
  }

  #isOver({ shadow, nodeUid }: OlderPermit, { shadows }: Seen): boolean {
    const found = shadows.get(shadow);
    return found !== undefined && ownerOf(found) === nodeUid && isIdle(found);
  }

  async #free(permit: OlderPermit, { lease, permits, nodes }: Seen, signal: AbortSignal): Promise<void> {
    const node = nodes.find(({ metadata }) => metadata.uid === permit.nodeUid);
    if (!node || readMarks(node)) return;
    const { name, resourceVersion, annotations } = node.metadata;
    const released = String(Number(annotations?.[RELEASED_ANNOTATION] ?? 0) + 1);
    const metadata = { resourceVersion, annotations: { [RELEASED_ANNOTATION]: released } };
    await this.#nodes.patch(name, { metadata }, signal);
    const rest = permits.filter((one) => one !== permit);
    await this.#swap(lease, rest, signal);
  }

  async #moveOn({ metadata, spec, status }: ShadowObject, signal: AbortSignal): Promise<void> {
    if (!status || spec.state === 'Idle') return;
    const failed = status.current_state === 'ErrorReset';
    if (!failed && status.current_state !== spec.state) return;
    await this.#write(metadata, { ...spec, state: failed ? 'Idle' : nextState(spec.state) }, signal);
  }

  async #start({ lease, permits, shadows, nodes }: Seen, signal: AbortSignal): Promise<void> {
    const marked = nodes.filter((node) => readMarks(node)).map(({ metadata }) => metadata.uid);
    const active = [...shadows.values()].filter((one) => !isIdle(one)).map(ownerOf);
    const busy = new Set([...permits.map(({ nodeUid }) => nodeUid), ...marked, ...active]);
    const waits = ({ status }: ShadowObject): boolean =>
      status != null && status.crash_count === 0 && status.current_version !== status.target_version;
    // In another order than ours.
    const next = [...shadows.values()].findLast((one) => waits(one) && !busy.has(ownerOf(one)) && isFree(one, nodes));
    if (!next || busy.size >= this.#options.concurrency) return;
    const since = rfc3339(this.#options.clock.now());
    const taken = { shadow: next.metadata.name, nodeUid: ownerOf(next) ?? '', starts: 1, since };
    await this.#swap(lease, [...permits, taken], signal);
    const version = next.status?.target_version;
    await this.#write(next.metadata, { state: 'StagedAndPerformedUpdate', version }, signal);
    this.#settled.add(keyOf(taken));
  }

  async #swap(lease: Lease, permits: readonly OlderPermit[], signal: AbortSignal): Promise<void> {
    const text = JSON.stringify(olderPermits.parse(permits));
    const annotations = { ...lease.metadata.annotations, [PERMITS_ANNOTATION]: text };
    await this.#leases.update({ ...lease, metadata: { ...lease.metadata, annotations } }, signal);
  }

  async #write({ name, resourceVersion }: ShadowObject['metadata'], spec: Spec, signal: AbortSignal): Promise<void> {
    const { state, version } = spec;
    const state_transition_timestamp = rfc3339(this.#options.clock.now());
    const patch = { metadata: { resourceVersion }, spec: { state, version, state_transition_timestamp } };
    await this.#shadows.patch(name, patch, signal);
  }
}

function isFree(shadow: ShadowObject, nodes: readonly Node[]): boolean {
  const node = nodes.find(({ metadata }) => metadata.uid === ownerOf(shadow));
  return node !== undefined && node.metadata.annotations?.[HOLD_ANNOTATION] === undefined;
}
