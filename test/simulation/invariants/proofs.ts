import type { Entry, Instant } from '../types.ts';
import type { NodeFacts, ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import type { Group } from './rulings.ts';
import type { Write } from './rule.ts';
import { nodesOf, type SeenNode } from './seen-node.ts';

/** One release for the nodes of one group and family. */
export interface Release {
  readonly group: Group;
  readonly family: string;
  readonly version: string;
}

export const keyOf = ({ group, family, version }: Release): string => `${group.name} ${family} ${version}`;

/** What is known of a release there. */
export interface Tally {
  /** Nodes that failed on it, as their shadows say; a failure that nobody has recorded is not counted. */
  readonly failed: readonly SeenNode[];
  /** On their way to it, and have not failed on it. */
  readonly flying: readonly SeenNode[];
  readonly members: number;
}

export function tally(picture: Picture, { group, family, version }: Release): Tally {
  const kin = picture.membersOf(group).filter(({ facts }) => facts.family === family);
  const failed: SeenNode[] = [];
  const flying: SeenNode[] = [];
  for (const node of kin) {
    const shadow = picture.shadowOf(node.facts);
    if (!shadow?.status) continue;
    if (hasFailed(shadow, version) || isLost(picture, node, version)) failed.push(node);
    else if (shadow.active && shadow.version === version && !isOver(shadow)) flying.push(node);
  }
  return { failed, flying, members: kin.length };
}

/** B8: a failure whose status was refused says nothing of its release. It has ended all the same. */
const isOver = ({ state, status }: ShadowFacts): boolean =>
  state === 'Idle' && status?.state === 'ErrorReset' && status.reason === undefined && status.crashes > 0;

const hasFailed = ({ status }: ShadowFacts, version: string): boolean =>
  status !== undefined && status.failed.includes(version);

/** Nodes that try a version now, or did so last, and whose failure has no record: it may be of that version (F1, older parts). */
export function presumed(picture: Picture, { group, family, version }: Release): readonly SeenNode[] {
  return picture.membersOf(group).filter(({ facts }) => {
    const shadow = facts.family === family ? picture.shadowOf(facts) : undefined;
    const { status } = shadow ?? {};
    if (!status || shadow?.version !== version || status.current === version) return false;
    return status.crashes > 0 && status.reason === undefined && status.failed.length === 0;
  });
}

/** What a verdict says of a node that did not come back, or is unwell since, counts as well, for as long as it is so. */
function isLost(picture: Picture, { facts }: SeenNode, version: string): boolean {
  const shadow = picture.shadowOf(facts);
  if (!shadow) return false;
  const { verdict, version: wanted, status } = shadow;
  const isBack = facts.ready && picture.agentOf(facts.name).runs;
  if (verdict?.reason === 'NotReturned') return wanted === version && !isBack;
  return verdict?.reason === 'SoakFailed' && status?.current === version && !facts.ready;
}

/** How many nodes must run a release before more of it starts. */
export const needed = ({ proofNodes }: Group, members: number): number =>
  Math.min(Math.max(1, proofNodes(members)), Math.max(1, members));

/** One broken machine does not stop a fleet. */
const SPARE = 2;

/** How many may fail on a release. */
export function mayFail(group: Group, members: number, isProven: boolean): number {
  const most = group.maxFailed(members);
  return isProven ? most : Math.min(most, needed(group, members) + SPARE);
}

/**
 * The version that a node runs at rest, Ready, and with an agent that could say otherwise.
 * @param unseenFrom an agent that has ended since may pass for running: nobody has seen it
 */
export function well(picture: Picture, node: SeenNode, unseenFrom: Instant = Infinity): string | undefined {
  const { runs, since } = picture.agentOf(node.facts.name);
  return node.facts.ready && (runs || since > unseenFrom) ? restingOn(picture, node) : undefined;
}

function restingOn(picture: Picture, { facts }: SeenNode): string | undefined {
  const shadow = picture.shadowOf(facts);
  return facts.managed && shadow && !shadow.active ? shadow.status?.current : undefined;
}

/** A proof may have been lost so lately that nobody knows, or goes by it, milliseconds. */
const PROVEN_WITHIN = 600_000;

/** Since when a node is at rest and Ready, or was until lately. */
interface Rest {
  readonly version: string;
  readonly from: Instant;
  to: Instant;
}

interface Former {
  readonly facts: NodeFacts;
  readonly until: Instant;
}

/** Which releases are proven, or were until lately. */
export class Proofs {
  readonly #picture: Picture;
  readonly #lostWithin: number;
  /** By UID of the node, the last ones. */
  readonly #rests = new Map<string, Rest[]>();
  /** By UID, nodes that have left their group, as they were in it. */
  readonly #former = new Map<string, Former>();

  /** @param lostWithin for how long a proof counts after it was lost, milliseconds */
  constructor(picture: Picture, lostWithin = PROVEN_WITHIN) {
    this.#picture = picture;
    this.#lostWithin = lostWithin;
  }

  see(entry: Entry): void {
    if (entry.kind === 'write' && entry.resource === 'nodes') this.#noteFormer(entry);
    const name = nodeIn(entry);
    const node = name === undefined ? undefined : this.#picture.nodes.get(name);
    if (node) this.#note(node, entry.at);
  }

  /** @param sentAt when somebody went by it: a node that has left its group since, or a moment before, still counts for him */
  isProven(release: Release, now: Instant, sentAt = now): boolean {
    const kin = [...this.kinOf(release, sentAt)];
    const proving = kin.filter((uid) => this.#isProof(uid, release, now));
    return proving.length >= needed(release.group, kin.length);
  }

  /** UIDs of the nodes that a release is for, with those that have left the group since somebody went by it, or a moment before. */
  kinOf({ group, family }: Release, sentAt: Instant): ReadonlySet<string> {
    const { rulings, sight } = this.#picture;
    const former = [...this.#former.values()].filter(
      ({ facts, until }) => rulings.groupOf(facts)?.name === group.name && !sight.known(until, sentAt),
    );
    const all = [...this.#picture.membersOf(group), ...former].filter(({ facts }) => facts.family === family);
    return new Set(all.map(({ facts }) => facts.uid));
  }

  #noteFormer(write: Write): void {
    const { old, made } = nodesOf(write);
    if (!old?.managed) return;
    const nameOf = (facts: NodeFacts): string | undefined => this.#picture.rulings.groupOf(facts)?.name;
    if (made?.managed && nameOf(old) === nameOf(made)) return;
    this.#former.set(old.uid, { facts: old, until: write.at });
  }

  #isProof(uid: string, { version, group }: Release, now: Instant): boolean {
    return (this.#rests.get(uid) ?? []).some(
      (rest) =>
        rest.version === version &&
        now - rest.to < this.#lostWithin &&
        Math.min(rest.to, now) - rest.from >= group.proofSoakMs - this.#slack,
    );
  }

  /** Clocks by which operators wait may be off. */
  get #slack(): number {
    return this.#picture.sight.apartMs + 1000;
  }

  #note(node: SeenNode, at: Instant): void {
    const { uid, ready } = node.facts;
    const rests = this.#rests.get(uid) ?? [];
    this.#rests.set(uid, rests);
    const resting = restingOn(this.#picture, node);
    const version = ready ? resting : undefined;
    const last = rests.at(-1);
    const isOpen = last?.to === Infinity;
    if (isOpen && last.version === version) return;
    if (isOpen) last.to = at;
    if (version !== undefined) rests.push({ version, from: at, to: Infinity });
    else this.#noteUnready(rests, resting, { node, at });
    if (rests.length > 4) rests.shift();
  }

  /** Whoever decides may not know yet that a node is Ready no more that comes to rest. */
  #noteUnready(
    rests: Rest[],
    version: string | undefined,
    { node, at }: { readonly node: SeenNode; readonly at: Instant },
  ): void {
    if (version === undefined || version === rests.at(-1)?.version) return;
    if (!this.#picture.sight.known(node.readyAt, at)) rests.push({ version, from: at, to: at });
  }
}

function nodeIn(entry: Entry): string | undefined {
  if (entry.kind !== 'write') return undefined;
  if (entry.resource === 'nodes') return entry.name;
  return entry.resource === 'bottlerocketshadows' ? entry.name.replace(/^brs-/, '') : undefined;
}

/** Nodes in update that were NotReady, or without their agent, for so long that nobody counts on them: they are lost, or count as failed before it is written. */
export class Absences {
  readonly #picture: Picture;
  readonly #longMs: number;
  /** By UID, when they were last back from such an absence. */
  readonly #backAt = new Map<string, Instant>();
  readonly #awaySince = new Map<string, Instant>();
  /** By UID, since when a reboot is asked for. */
  readonly #askedAt = new Map<string, Instant>();

  constructor(picture: Picture) {
    this.#picture = picture;
    this.#longMs = Math.min(picture.terms.returnTimeoutMs, picture.terms.soakTimeoutMs);
  }

  see(entry: Entry): void {
    const name = entry.kind === 'process' ? /agent-(.*)$/.exec(entry.process)?.[1] : nodeIn(entry);
    const node = name === undefined ? undefined : this.#picture.nodes.get(name);
    if (!node) return;
    const { uid, ready } = node.facts;
    this.#noteRequest(node, entry.at);
    const isThere = ready && this.#picture.agentOf(node.facts.name).runs;
    const since = this.#awaySince.get(uid);
    if (!isThere) this.#awaySince.set(uid, since ?? entry.at);
    else if (since !== undefined) {
      this.#awaySince.delete(uid);
      if (this.#isLong(since, entry.at)) this.#backAt.set(uid, entry.at);
    }
  }

  /** An older operator's agent keeps no record: it asks for the reboot once its node is drained. */
  #noteRequest({ facts }: SeenNode, at: Instant): void {
    const shadow = this.#picture.shadowOf(facts);
    const record = shadow?.status?.record;
    const isAsked = record?.requested ?? (shadow?.state === 'RebootedIntoUpdate' && facts.marks?.drained);
    if (!isAsked) this.#askedAt.delete(facts.uid);
    else if (!this.#askedAt.has(facts.uid)) this.#askedAt.set(facts.uid, at);
  }

  /** Whether nobody counts on it now, or need not know yet that it is back. Of one that was asked to reboot, the time counts from then. */
  isAway({ facts: { uid } }: SeenNode, now: Instant): boolean {
    const since = this.#awaySince.get(uid);
    if (since === undefined) return !this.#picture.sight.known(this.#backAt.get(uid) ?? -Infinity, now);
    return this.#isLong(Math.min(since, this.#askedAt.get(uid) ?? since), now);
  }

  /** Whether nobody has counted on it at some time since. */
  wasAway(uid: string, { since, now }: { readonly since: Instant; readonly now: Instant }): boolean {
    const away = this.#awaySince.get(uid);
    return (this.#backAt.get(uid) ?? -Infinity) >= since || (away !== undefined && this.#isLong(away, now));
  }

  #isLong(since: Instant, now: Instant): boolean {
    return now - since >= this.#longMs - 60_000 - this.#picture.sight.apartMs;
  }
}
