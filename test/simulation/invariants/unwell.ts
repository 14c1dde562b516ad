import type { Entry, Instant } from '../types.ts';
import { at, isController, type ShadowFacts, shadowFacts, text } from './facts.ts';
import type { Sorted, Standing } from './liveness.ts';
import type { Picture } from './picture.ts';
import { OWN, RIGHT } from './reasons.ts';
import type { Write } from './rule.ts';
import type { SeenNode } from './seen-node.ts';

const MINUTE = 60_000;

/** So long after a change verdicts and agents have caught up. */
export const SAID_WITHIN = 10 * MINUTE;

/** A managed node that is held, not Ready or without its agent, and what is known of it. */
interface Asked {
  readonly node: SeenNode;
  readonly shadow: ShadowFacts;
  readonly runs: boolean;
  readonly now: Instant;
  readonly sorted: Sorted;
}

/** What is true of such a node. Where several are true at once, each of them is right. */
const TRUE: Readonly<Record<string, (asked: Asked) => boolean>> = {
  Held: ({ node: { facts } }) => facts.held,
  NodeNotReady: ({ node: { facts } }) => !facts.ready,
  SoakFailed: ({ node: { facts } }) => !facts.ready,
  ProgressDeadlineExceeded: ({ node: { facts }, shadow }) => shadow.active && !facts.ready,
  NotReturned: ({ node: { facts }, shadow, runs }) => shadow.active && (!facts.ready || !runs),
  AgentSilent: ({ node: { facts }, runs }) => facts.ready && !runs,
};

/** What is wanted of such a node, and how long it takes until somebody can tell, milliseconds. */
interface Lack {
  readonly what: string;
  readonly afterMs: number;
}

/** Whether nodes that are not well say why. */
export class Unwell {
  readonly #picture: Picture;
  /** UIDs of nodes whose missing agent an Event has told of. */
  readonly #missed = new Set<string>();
  /** When the shadow last came to another step or version, was made or deleted, by name of the node. */
  readonly #movedAt = new Map<string, Instant>();
  #holder = '';
  /** When another controller came to lead, or one began or ended: who begins counts anew how long something lasts. */
  #ledSince: Instant = 0;

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  see(entry: Entry): void {
    if (entry.kind === 'process' && isController(entry.process)) this.#ledSince = entry.at;
    if (entry.kind === 'write') this.#write(entry);
  }

  #write(write: Write): void {
    const { resource, before, after, name } = write;
    const { holder } = this.#picture.lease;
    if (holder !== this.#holder) this.#ledSince = write.at;
    this.#holder = holder;
    if (resource === 'events' && text(at(after, 'reason')) === 'AgentMissing')
      this.#missed.add(text(at(after, 'involvedObject', 'uid')) ?? '');
    if (resource !== 'bottlerocketshadows') return;
    if (stepOf(before && shadowFacts(before)) === stepOf(after && shadowFacts(after))) return;
    this.#movedAt.set(name.replace(/^brs-/, ''), write.at);
  }

  /** When its shadow last changed in what verdicts go by. */
  movedAt({ facts }: SeenNode): Instant {
    return this.#movedAt.get(facts.name) ?? 0;
  }

  standing(node: SeenNode, sorted: Sorted, now: Instant): Standing {
    const lack = this.#lackOf(node, sorted, now);
    if (!lack) return 'kept';
    const { what, afterMs } = lack;
    const since = Math.max(sorted.changedAt(node), this.#ledSince, this.movedAt(node), this.#picture.ruledAt(node));
    const within = SAID_WITHIN + afterMs + this.#picture.sight.apartMs;
    return now - since < within ? 'going' : { wrong: what };
  }

  /** Undefined where it says what is right, or where nobody can ask it to. */
  #lackOf(node: SeenNode, sorted: Sorted, now: Instant): Lack | undefined {
    const { facts } = node;
    const { processes } = this.#picture;
    const { runs } = this.#picture.agentOf(facts.name);
    const shadow = this.#picture.shadowOf(facts);
    // Conditions have no place without a status.
    if (!shadow?.status) return this.#unreported(node, runs);
    // The older operator's agent reports what it likes.
    if (runs && processes.get(`agent-${facts.name}`)?.runs !== true) return undefined;
    return this.#unsaid({ node, shadow, runs, now, sorted });
  }

  /** A kubelet that is down leaves it open whether the agent runs. What somebody has taken from its owner, no Event tells of. */
  #unreported({ facts }: SeenNode, runs: boolean): Lack | undefined {
    const isTaken = this.#picture.shadows.get(`brs-${facts.name}`)?.owners.length === 0;
    if (isTaken || runs || !facts.ready || this.#missed.has(facts.uid)) return undefined;
    return { what: 'it has no agent, and no Event tells of that', afterMs: this.#picture.terms.agentTimeoutMs };
  }

  #unsaid(asked: Asked): Lack | undefined {
    const { node, shadow, runs } = asked;
    const isSilent = node.facts.ready && !runs;
    if (!isSilent && !isBehind(shadow)) return undefined;
    const reason = shadow.verdict?.reason ?? 'nothing';
    if (TRUE[reason]?.(asked) || isRight(reason, asked)) return undefined;
    const afterMs = isSilent ? this.#picture.terms.agentTimeoutMs : this.#downMs(shadow);
    return { what: `it is ${stateOf(asked)}, and is said to be ${reason}`, afterMs };
  }

  /** How long a node may be down before somebody is told. In the midst of an update it may be rebooting. */
  #downMs({ active }: ShadowFacts): number {
    const { returnTimeoutMs, soakTimeoutMs } = this.#picture.terms;
    return active ? Math.max(returnTimeoutMs, soakTimeoutMs) : 0;
  }
}

const isBehind = ({ active, status }: ShadowFacts): boolean => active || status?.current !== status?.target;

/** Of a node that waits to begin, what people and time decide is as true as what it suffers from. */
function isRight(reason: string, asked: Asked): boolean {
  const { shadow } = asked;
  if (shadow.active || !isBehind(shadow) || !OWN.has(reason)) return false;
  const standing = RIGHT[reason]?.(asked);
  return standing === 'kept' || standing === 'going';
}

const stepOf = (shadow: ShadowFacts | undefined): string => {
  const { state, version, status, owners } = shadow ?? {};
  return JSON.stringify([state, version, owners, status?.state, status?.current, status?.target, status?.record]);
};

const stateOf = ({ node: { facts }, runs }: Asked): string =>
  [facts.held ? 'held' : '', facts.ready ? '' : 'not Ready', runs ? '' : 'without its agent']
    .filter((word) => word !== '')
    .join(' and ');
