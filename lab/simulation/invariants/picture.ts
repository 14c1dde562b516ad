import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { Entry, HostEntry, Instant, Scenario } from '../types.ts';
import {
  isController,
  isStart,
  LEASE,
  leaseOf,
  NAMESPACE,
  nodeFacts,
  type NodeFacts,
  PAUSED,
  podFacts,
  type PodFacts,
  shadowFacts,
  type ShadowFacts,
} from './facts.ts';
import { type PolicyFacts, policyFacts, saysOther } from './policy-facts.ts';
import { releaseFacts, type ReleaseFacts } from './release-facts.ts';
import type { Write } from './rule.ts';
import { type Group, Rulings } from './rulings.ts';
import { SeenHost } from './seen-host.ts';
import { SeenLocks } from './seen-locks.ts';
import { seenNode, type SeenNode, unlessSame } from './seen-node.ts';
import { agentOf, Beginnings, type SeenProcess } from './seen-process.ts';
import { type Terms, termsOf } from './settings.ts';
import { Sight } from './sight.ts';

/** A node's update: from when its start was written until it is at rest, or nothing of the update can go on. */
export interface Update {
  readonly node: string;
  readonly uid: string;
  readonly at: Instant;
}

export interface SeenPod {
  readonly facts: PodFacts;
  readonly created: Instant;
  /** When it came to its node. */
  readonly bound: Instant;
}

/** Where there are no policies, the operator asks again only after a while whether there are by now, milliseconds. */
const DEFINED_WITHIN = 120_000;

const POLICIES = 'bottlerocketupdatepolicies.brupop.bottlerocket.aws';

/** What judges look at: the world after an entry. */
export class Picture {
  readonly terms: Terms;
  readonly sight: Sight;
  readonly nodes = new Map<string, SeenNode>();
  readonly shadows = new Map<string, ShadowFacts>();
  /** By UID. */
  readonly pods = new Map<string, SeenPod>();
  readonly hosts = new Map<string, SeenHost>();
  readonly locks = new SeenLocks();
  /** Nodes whose last update an older operator began: nobody has written what it knew of them. */
  readonly inherited = new Set<string>();
  readonly processes = new Map<string, SeenProcess>();
  readonly beginnings = new Beginnings();
  /** By UID of the node. */
  readonly updates = new Map<string, Update>();
  /** When its last update came to rest, by UID of the node. */
  readonly restedAt = new Map<string, Instant>();
  /** When its shadow last came to rest, by UID of the node. */
  readonly endedAt = new Map<string, Instant>();
  /** What administrators have decided, by name of the policy. */
  readonly policies = new Map<string, PolicyFacts>();
  /** What is known of releases, by name of the resource. */
  readonly releases = new Map<string, ReleaseFacts>();
  /** When the last of these was deleted. */
  releaseGoneAt: Instant = -Infinity;
  /** When policies were last changed. */
  policiesAt: Instant = -Infinity;
  /** Who rules which node. */
  rulings: Rulings;
  lease = leaseOf(undefined);
  pausedAt: Instant | undefined;
  calmAt: Instant | undefined;
  /** The most that may have been updating at once, by the most nodes that were managed. */
  mostAtOnce = 0;
  /** Another one when anything but a request has been told of. */
  version = 0;
  /** Another one when nodes, shadows, permits, processes, what hosts are to boot, or who rules whom, stand otherwise than before. */
  standing = 0;
  /** When it was last deleted, by name of the shadow. */
  readonly #orphanedAt = new Map<string, Instant>();
  /** When the last that was told of happened. */
  #now: Instant = 0;
  /** When the cluster got the kind of policies. */
  definedAt: Instant = -Infinity;

  constructor(scenario: Scenario) {
    this.terms = termsOf(scenario);
    this.sight = new Sight(scenario);
    this.rulings = new Rulings(this.policies, this.terms);
  }

  /** The managed nodes that a group has now. */
  membersOf({ name }: Group): readonly SeenNode[] {
    return [...this.nodes.values()].filter(({ facts }) => facts.managed && this.rulings.groupOf(facts)?.name === name);
  }

  /** Since when it stands who rules a node, and with what terms. */
  ruledAt({ labelsAt, managedAt }: SeenNode): Instant {
    return Math.max(this.policiesAt, labelsAt, managedAt);
  }

  see(entry: Entry): void {
    this.#now = entry.at;
    if (entry.kind === 'request' || entry.kind === 'sent' || entry.kind === 'asked') return;
    this.version += 1;
    this.locks.see(entry);
    if (entry.kind === 'write') this.#write(entry);
    else if (entry.kind === 'host') this.#host(entry);
    else if (entry.kind === 'fault') this.sight.see(entry);
    else if (entry.kind === 'calm') this.calmAt = entry.at;
    else this.#process(entry.process, { runs: entry.event === 'starts', since: entry.at });
  }

  #host(entry: HostEntry & { readonly at: Instant }): void {
    if (entry.event.kind === 'activation') this.standing += 1;
    this.host(entry.node).see(entry);
  }

  #process(name: string, seen: SeenProcess): void {
    this.standing += 1;
    this.processes.set(name, seen);
    if (seen.runs) this.beginnings.note(name, seen.since);
  }

  host(name: string): SeenHost {
    return getOrInsert(this.hosts, name, () => new SeenHost());
  }

  /** The agent of the node, ours or the older operator's. */
  agentOf(node: string): SeenProcess {
    return agentOf(this.processes, node);
  }

  managed(): number {
    let count = 0;
    for (const { facts } of this.nodes.values()) if (facts.managed) count += 1;
    return count;
  }

  /** The shadow of the node, where that names it as its owner. */
  shadowOf({ name, uid }: Pick<NodeFacts, 'name' | 'uid'>): ShadowFacts | undefined {
    const shadow = this.shadows.get(`brs-${name}`);
    return shadow?.owners.includes(uid) ? shadow : undefined;
  }

  readonly #writes: Readonly<Record<string, (write: Write) => void>> = {
    nodes: (write) => this.#node(write),
    bottlerocketshadows: (write) => this.#shadow(write),
    bottlerocketupdatepolicies: (write) => this.#policy(write),
    bottlerocketreleases: ({ name, before, after, at }) => {
      const last = before && this.releases.get(name);
      if (after) this.releases.set(name, releaseFacts(after, last, at));
      else {
        this.releases.delete(name);
        this.releaseGoneAt = at;
      }
    },
    pods: (write) => this.#pod(write),
    [`leases/${LEASE}`]: (write) => this.#leaseWritten(write),
    [`namespaces/${NAMESPACE}`]: (write) => this.#namespace(write),
    [`customresourcedefinitions/${POLICIES}`]: ({ before, at }) => {
      if (!before) this.definedAt = at;
    },
  };

  #write(write: Write): void {
    const { resource, name } = write;
    const see = this.#writes[resource] ?? this.#writes[`${resource}/${name}`];
    see?.(write);
  }

  #node(write: Write): void {
    const { name, before, after } = write;
    if (!after) {
      this.standing += 1;
      this.nodes.delete(name);
      if (before) this.updates.delete(before.metadata.uid);
      return;
    }
    const known = this.nodes.get(name);
    const wasManaged = known?.facts.managed ?? false;
    const facts = unlessSame(known?.facts, nodeFacts(after));
    if (facts !== known?.facts) this.standing += 1;
    this.nodes.set(name, seenNode(known, facts, write));
    if (facts.managed !== wasManaged)
      this.mostAtOnce = Math.max(this.mostAtOnce, this.terms.maxConcurrent(this.managed()));
    if (!facts.marks) this.#settle(facts.uid);
  }

  #shadow(write: Write): void {
    const { name, before, after } = write;
    this.standing += 1;
    this.#keepShadow(name, after && shadowFacts(after));
    const started = startIn(write);
    if (started) this.#start(started, write.at);
    else if (after && write.by === 'older-operator') this.#inherit(shadowFacts(after));
    if (before && after) this.#noteEnd(shadowFacts(before), shadowFacts(after), write.at);
    const owners = [before, after].flatMap((one) => (one ? shadowFacts(one).owners : []));
    for (const uid of owners) this.#settle(uid);
  }

  #keepShadow(name: string, facts: ShadowFacts | undefined): void {
    if (facts) this.shadows.set(name, facts);
    else {
      this.shadows.delete(name);
      this.#orphanedAt.set(name, this.#now);
    }
  }

  #noteEnd(before: ShadowFacts, { active, owners }: ShadowFacts, at: Instant): void {
    if (before.active && !active) for (const uid of owners) this.endedAt.set(uid, at);
  }

  #inherit({ node, state }: ShadowFacts): void {
    if (state !== 'Idle') this.inherited.add(node);
  }

  #start({ node, owners }: ShadowFacts, at: Instant): void {
    this.inherited.delete(node);
    this.host(node).begin();
    for (const uid of owners) this.updates.set(uid, { node, uid, at });
  }

  #pod({ before, after, at }: Write): void {
    if (before && !after) this.pods.delete(before.metadata.uid);
    if (!after) return;
    const facts = podFacts(after);
    const known = this.pods.get(facts.uid);
    const stays = known?.facts.node === facts.node;
    this.pods.set(facts.uid, { facts, created: known?.created ?? at, bound: known && stays ? known.bound : at });
  }

  #leaseWritten({ after }: Write): void {
    const before = this.lease;
    this.lease = leaseOf(after);
    if (before.permitsText === this.lease.permitsText) return;
    this.standing += 1;
    for (const { nodeUid } of before.permits) this.#settle(nodeUid);
  }

  #policy({ name, before, after, at }: Write): void {
    if (!saysOther(before, after)) return;
    this.standing += 1;
    if (after) this.policies.set(name, policyFacts(after));
    else this.policies.delete(name);
    this.policiesAt = Math.max(at, this.definedAt + DEFINED_WITHIN);
    this.rulings = new Rulings(this.policies, this.terms);
  }

  #namespace({ after, at }: Write): void {
    const paused = after?.metadata.annotations?.[PAUSED] !== undefined;
    this.pausedAt = paused ? (this.pausedAt ?? at) : undefined;
  }

  /** An update that is over is taken off the list. */
  #settle(uid: string): void {
    const update = this.updates.get(uid);
    if (!update || this.#isMarked(update)) return;
    const shadow = this.shadowOf({ name: update.node, uid });
    const isAtRest = shadow?.status !== undefined && !shadow.active;
    if (!isAtRest && !this.#isAbandoned(update)) return;
    this.updates.delete(uid);
    if (isAtRest) this.restedAt.set(uid, this.#now);
  }

  #isMarked({ node, uid }: Update): boolean {
    const facts = this.nodes.get(node)?.facts;
    return facts?.uid === uid && facts.marks !== undefined;
  }

  /** Its permit is given back and no process could go on with it: (c) and (d) of L3, where an agent that starts without its shadow knows of no update. */
  #isAbandoned({ node, uid, at }: Update): boolean {
    if (this.lease.permits.some((permit) => permit.nodeUid === uid)) return false;
    const shadow = this.shadows.get(`brs-${node}`);
    if (shadow && isOver(shadow, uid)) return true;
    const { runs, since } = this.agentOf(node);
    const orphanedAt = this.#orphanedAt.get(`brs-${node}`) ?? -Infinity;
    return !(runs && (orphanedAt < at || since < orphanedAt));
  }
}

/** (e) of L3: it was called off and asks for no reboot, though its agent has yet to say that it is at rest; or nobody obeys it, for it is nobody's (B4). */
const isOver = ({ owners, state, status }: ShadowFacts, uid: string): boolean =>
  owners.length === 0 || (owners.includes(uid) && state === 'Idle' && status?.record?.requested !== true);

/** The shadow that a controller starts with this write; undefined where it starts nothing. */
export function startIn({ resource, by, before, after }: Write): ShadowFacts | undefined {
  if (resource !== 'bottlerocketshadows' || !after || !isController(by)) return undefined;
  const made = shadowFacts(after);
  return isStart(before && shadowFacts(before), made) ? made : undefined;
}
