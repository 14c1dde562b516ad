import type { Instant } from '../types.ts';
import {
  isApiserver,
  isController,
  isOperator,
  type MarksFacts,
  type NodeFacts,
  shadowFacts,
  type ShadowFacts,
  type StatusFacts,
} from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { nodesOf } from './seen-node.ts';
import type { Sight } from './sight.ts';

/** What a process has read may be as old as a request may take when it writes on it, milliseconds. */
const READ_WITHIN = 35_000;
/** An agent that has just begun was not there yet for who looked, milliseconds. */
const UNSEEN = 60_000;

/** Of each node, when its boot, its shadow's spec and its marks became what they are. */
class Since {
  readonly #sight: Sight;
  readonly #known = new Map<string, { readonly value: string; readonly at: Instant }>();

  constructor({ sight }: Picture) {
    this.#sight = sight;
  }

  note(what: string, value: string, at: Instant): void {
    if (this.#known.get(what)?.value !== value) this.#known.set(what, { value, at });
  }

  /** Whether whoever sent something at `sentAt` must have read it. One that stood still goes on with what it had read before. */
  isOlderThan(what: string, { by, sentAt }: Pick<Write, 'by' | 'sentAt'>): boolean {
    if (sentAt - this.#sight.wentOnAt(by) < READ_WITHIN) return false;
    return (this.#known.get(what)?.at ?? -Infinity) < sentAt - READ_WITHIN;
  }
}

function noteNode(since: Since, { name, at, after }: Write): void {
  if (!after) return;
  const { made } = nodesOf({ after } as Write);
  since.note(`boot of ${name}`, made?.boot ?? '', at);
  since.note(`marks of ${name}`, String(made?.marks !== undefined), at);
}

function noteShadow(since: Since, { name, at, by, after }: Write): void {
  const node = name.replace(/^brs-/, '');
  const facts = after && shadowFacts(after);
  since.note(`spec of ${node}`, `${facts?.state} ${facts?.version}`, at);
  if (!isOperator(by)) since.note(`others at ${node}`, String(at), at);
}

/** M1, M3: what a drain begins with. */
export const drains: Rule = {
  name: 'drains',
  begin(picture) {
    const since = new Since(picture);
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'bottlerocketshadows') {
          noteShadow(since, entry);
          return isApiserver(entry.by) ? announced(picture, since, entry) : NOTHING;
        }
        if (entry.resource !== 'nodes') return NOTHING;
        noteNode(since, entry);
        return isApiserver(entry.by) ? cordoned(picture, since, entry) : NOTHING;
      },
    };
  },
};

/** The status of which a drain has been written is the one on which it was decided. */
function announced(picture: Picture, since: Since, { by, before, after, sentAt }: Write): readonly string[] {
  const old = before && shadowFacts(before);
  if (!old?.status || !after || !isAnew(old.status, shadowFacts(after).status)) return NOTHING;
  const isSettled = since.isOlderThan(`boot of ${old.node}`, { by, sentAt });
  const why = undrainable(old, old.status) ?? back(picture, old, isSettled);
  return why === undefined ? NOTHING : [`${by} began a drain of ${old.node}, ${why}`];
}

const isAnew = ({ drainBegan: old }: StatusFacts, made: StatusFacts | undefined): boolean =>
  made?.drainBegan !== undefined && made.drainBegan !== old;

function undrainable({ state }: ShadowFacts, status: StatusFacts): string | undefined {
  if (state !== 'RebootedIntoUpdate') return `which is wanted in ${state}`;
  return OVER.has(status.state) ? `which has reported ${status.state}` : undefined;
}

function back({ nodes }: Picture, { node, status }: ShadowFacts, isSettled: boolean): string | undefined {
  const { record } = status ?? {};
  const isBack = record?.requested === true && record.boot !== nodes.get(node)?.facts.boot;
  return isBack && isSettled ? 'which has been rebooted as it was asked to' : undefined;
}

const OVER: ReadonlySet<string> = new Set(['RebootedIntoUpdate', 'ErrorReset']);

function cordoned(picture: Picture, since: Since, write: Write): readonly string[] {
  const { old, made } = nodesOf(write);
  const { by, name } = write;
  if (!old || !made?.marks) return NOTHING;
  const why = made.cordoned && !old.cordoned ? tooSoon(picture, since, { write, made }) : undefined;
  if (why !== undefined) return [`${by} cordoned ${name} ${why}`];
  return isProof(old.marks, made.marks) && isOfEarlierBoot(picture, since, { write, made })
    ? [`${by} proved ${name} to be drained by the marks of an earlier boot`]
    : NOTHING;
}

interface Cordoned {
  readonly write: Write;
  readonly made: NodeFacts;
}

function tooSoon(picture: Picture, since: Since, { write: { by, name, sentAt }, made }: Cordoned): string | undefined {
  if (made.marks?.drained) return 'again, and left it proven to be drained';
  const status = picture.shadowOf(made)?.status;
  return status && !status.draining && since.isOlderThan(`others at ${name}`, { by, sentAt })
    ? 'before its shadow told of a drain'
    : undefined;
}

const isProof = (old: MarksFacts | undefined, { proof }: MarksFacts): boolean =>
  proof !== undefined && proof !== old?.proof;

/** The agent that asks is one of the boot that its Node tells of, once that has been so for a while. */
function isOfEarlierBoot(
  { sight }: Picture,
  since: Since,
  { write: { by, name, sentAt }, made: { marks, boot } }: Cordoned,
): boolean {
  const isOther = marks?.boot !== undefined && boot !== undefined && marks.boot !== boot;
  const longAgo = sentAt - 2 * UNSEEN;
  return isOther && since.isOlderThan(`boot of ${name}`, { by, sentAt: longAgo }) && sight.known(longAgo, sentAt);
}

/** M5, M8: when marks may go. */
export const released: Rule = {
  name: 'released',
  begin(picture) {
    const since = new Since(picture);
    // By name of the shadow, until when one was at rest that has been deleted since: until then M8 (a) held.
    const restedUntil = new Map<string, Instant>();
    const earlier = new Earlier(picture);
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'bottlerocketshadows') {
          noteShadow(since, entry);
          noteDeletion(restedUntil, entry);
          earlier.see(entry);
        }
        return entry.resource === 'nodes' ? tooEarly({ picture, since, restedUntil, earlier }, entry) : NOTHING;
      },
    };
  },
};

/** When shadows were deleted that were at rest, by name. */
export function noteDeletion(deletions: Map<string, Instant>, { name, at, before, after }: Write): void {
  if (before && !after && !shadowFacts(before).active) deletions.set(name, at);
  else deletions.delete(name);
}

interface Known {
  readonly picture: Picture;
  readonly since: Since;
  readonly restedUntil: ReadonlyMap<string, Instant>;
  readonly earlier: Earlier;
}

function tooEarly(known: Known, write: Write): readonly string[] {
  const { old, made } = nodesOf(write);
  const { by, name } = write;
  if (!old?.marks || !made || made.marks || !isOperator(by)) return NOTHING;
  const why = unreleasable(known, write, { old, made });
  return why === undefined ? NOTHING : [`${by} took the marks from ${name}, ${why}`];
}

function unreleasable(
  known: Known,
  write: Write,
  { old, made }: { readonly old: NodeFacts; readonly made: NodeFacts },
): string | undefined {
  const { picture, since, restedUntil } = known;
  const { by, name, sentAt } = write;
  const shadow = picture.shadowOf(made);
  if (!shadow && sentAt - READ_WITHIN < (restedUntil.get(`brs-${name}`) ?? -Infinity)) return undefined;
  // It may have been decided, or even sent, before an update began.
  if (shadow && !since.isOlderThan(`spec of ${name}`, { by, sentAt })) return undefined;
  return isController(by) ? unended(known, write, { made, shadow }) : unupdated(old, shadow);
}

/** A request to release from before the reboot, which comes late, must not undo the drain. */
const unupdated = ({ version }: NodeFacts, shadow: ShadowFacts | undefined): string | undefined =>
  shadow?.state === 'RebootedIntoUpdate' && version !== shadow.version
    ? `which runs ${version} and is wanted at ${shadow.version}`
    : undefined;

function unended(
  { picture, earlier }: Known,
  { at, name, sentAt }: Write,
  { made, shadow }: { readonly made: NodeFacts; readonly shadow: ShadowFacts | undefined },
): string | undefined {
  if (shadow && !shadow.active) return undefined;
  const { runs, since } = picture.agentOf(name);
  if (runs && at - since > UNSEEN) return `whose agent runs${shadow ? '' : ', and which has no shadow'}`;
  return shadow && !earlier.wasLeft(shadow, made, sentAt) ? 'whose update has not ended' : undefined;
}

/** What shadows were, by name, until somebody else changed them. */
export class Earlier {
  readonly #picture: Picture;
  readonly #shadows = new Map<string, { readonly shadow: ShadowFacts; readonly until: Instant }>();

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  see({ by, name, at, before, after }: Write): void {
    if (before && after && !isOperator(by)) this.#shadows.set(name, { shadow: shadowFacts(before), until: at });
  }

  /** Whether it was left by its agent, for all that is known to who went by it at `sentAt`. */
  wasLeft(shadow: ShadowFacts, node: NodeFacts, sentAt: Instant): boolean {
    const earlier = this.#shadows.get(shadow.name);
    if (isLeft(shadow, node)) return true;
    return earlier !== undefined && !this.#picture.sight.known(earlier.until, sentAt) && isLeft(earlier.shadow, node);
  }
}

/** M8 (c): nothing is missing but what its agent has to say. */
const isLeft = ({ state, status }: ShadowFacts, { boot }: Pick<NodeFacts, 'boot'>): boolean =>
  state === 'Idle' || (status?.record?.requested === true && status.record.boot !== boot);
