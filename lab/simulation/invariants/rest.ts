import { BEGINS_AT, type Entry, type Instant } from '../types.ts';
import { MINUTE } from '../units.ts';
import { isController, isOperator, type ShadowFacts } from './facts.ts';
import { haltedByFailures } from './halted.ts';
import { isForbidden } from './obeyed.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule } from './rule.ts';
import { isLocked } from './seen-locks.ts';
import { ARRIVING, type SeenNode, takesPods } from './seen-node.ts';

/** Once nothing goes wrong any more, what an update leaves is gone so soon after it is over, milliseconds. */
const REST_WITHIN = 900_000;

/** So soon who can takes a taint of ours from a node, once nothing is to come of it, milliseconds. */
const UNTAINTED_WITHIN = 180_000;
/** What was refused is tried again so soon (L9), milliseconds. */
export const RETRIED_WITHIN = 330_000;
/** A hint that shows nothing takes a place for so long, milliseconds. */
const SHOWS = 180 * MINUTE;
/** No machine is kept from pods for longer from when its Node was made, milliseconds. */
const ARRIVES = 600_000;

/** Nobody decides where no controller runs, and each node is cordoned or not Ready, so that none takes its pod. */
export function isDeserted({ nodes, processes }: Picture): boolean {
  for (const node of nodes.values()) if (takesPods(node)) return false;
  return ![...processes].some(([name, { runs }]) => runs && isController(name));
}

/** What should not be so, each since when. */
export class Standing {
  readonly #withinMs: number;
  readonly #since = new Map<string, Instant>();
  readonly #told = new Set<string>();

  constructor(withinMs: number) {
    this.#withinMs = withinMs;
  }

  get isOver(): boolean {
    return this.#since.size === 0;
  }

  note(all: readonly string[], now: Instant): void {
    if (all.length === 0) return this.#since.clear();
    const found = new Set(all);
    for (const one of this.#since.keys()) if (!found.has(one)) this.#since.delete(one);
    for (const one of found) if (!this.#since.has(one)) this.#since.set(one, now);
  }

  /** What has stood for longer than it may, told once. */
  late(now: Instant): readonly string[] {
    if (this.isOver) return NOTHING;
    const all = [...this.#since].filter(([one, from]) => now - from > this.#withinMs && !this.#told.has(one));
    for (const [one] of all) this.#told.add(one);
    return all.map(([one]) => one);
  }
}

/** M6, M8, L3, B4: of a node at rest, or gone, nothing of ours is left. P14, P16: no taint of ours stays of which nothing is to come. */
export const atRest: Rule = {
  name: 'at-rest',
  begin(picture) {
    const [left, tainted] = [new Standing(REST_WITHIN), new Standing(UNTAINTED_WITHIN)];
    const leads = leader(picture);
    // By name of the shadow, when a controller was last refused a write of it.
    const refused = new Map<string, Instant>();
    let known = -1;
    const late = (now: Instant): readonly string[] => [left, tainted].flatMap((one) => one.late(now));
    return {
      see(entry) {
        const { at } = entry;
        noteRefusal(refused, entry);
        const isJudged = entry.kind === 'write' || entry.kind === 'process' || entry.kind === 'fault';
        if (isJudged)
          tainted.note(leads(entry) ? [...taintsIn(picture, at), ...hintsIn(picture, refused, at)] : NOTHING, at);
        if (picture.calmAt !== undefined && picture.standing !== known) {
          known = picture.standing;
          left.note(isDeserted(picture) ? NOTHING : leftIn(picture), at);
        }
        return late(at);
      },
      isMet: () => left.isOver && tainted.isOver,
      end: late,
    };
  },
};

function noteRefusal(refused: Map<string, Instant>, entry: Entry): void {
  if (entry.kind !== 'request') return;
  const { at, by, verb, resource, name = '', code } = entry;
  if (resource === 'bottlerocketshadows' && verb === 'patch' && code === 403 && isController(by)) refused.set(name, at);
}

/** Whether a controller leads, still the same one, that has read all once, and nothing keeps it from Nodes. */
export function leader(picture: Picture): (entry: Entry) => boolean {
  let holder = '';
  return ({ kind, at }) => {
    const isSame = holder === picture.lease.holder && kind !== 'process';
    ({ holder } = picture.lease);
    const running = [...picture.processes].filter(([name, process]) => process.runs && isController(name));
    const isRead = running.length > 0 && running.every(([, { since }]) => picture.sight.mayHaveRead(since));
    return isSame && isRead && picture.sight.reachesNodes(at);
  };
}

function taintsIn(picture: Picture, now: Instant): readonly string[] {
  return [...picture.nodes.values()].flatMap((node) =>
    node.facts.taints
      .filter(
        (taint) => (taint === ARRIVING && isOverdue(picture, node, now)) || !isOfUse(picture, node, { taint, now }),
      )
      .map((taint) => `${node.facts.name} (${node.facts.uid}) bears ${taint}, and nothing is to come of it`),
  );
}

/** H2: no node is named an update that people, its policy or a halt forbid, nor are more than may be updating. */
function hintsIn(picture: Picture, refused: ReadonlyMap<string, Instant>, now: Instant): readonly string[] {
  if (!picture.sight.isClear(now)) return NOTHING;
  const named = [...picture.nodes.values()].flatMap((node) => {
    const shadow = picture.shadowOf(node.facts);
    const isNamed = shadow?.hint !== undefined && shadow.state === 'Idle' && !node.facts.marks;
    if (shadow && now - (refused.get(shadow.name) ?? -Infinity) < RETRIED_WITHIN) return [];
    return isNamed ? [{ node, shadow, version: shadow.hint }] : [];
  });
  const vain = named
    .filter(({ node, version }) => isForbidden(picture, node, version, now) || haltedByFailures(picture, node, version))
    .map(({ node, version }) => `${node.facts.name} is named ${version}, which is not to come`);
  const most = picture.mostAtOnce;
  const isMany = named.filter(({ shadow }) => takesPlace(picture, shadow, now)).length > most;
  return isMany ? [...vain, `more than ${most} nodes are named what to prepare`] : vain;
}

/** Not one that is not offered any more, so that nobody prepares it (H1), nor for so long that it might have shown nothing in time, nor found blocked. */
const takesPlace = ({ sight }: Picture, { status, hint, hintedAt }: ShadowFacts, now: Instant): boolean =>
  status?.target === hint && !status?.isBlocked && now + BEGINS_AT - hintedAt < SHOWS - sight.apartMs;

const isOverdue = ({ sight }: Picture, { madeAt }: SeenNode, now: Instant): boolean =>
  now - madeAt > ARRIVES + sight.apartMs;

/** Whether the node bears the taint for an update that may come, or is on its way. What is drained keeps it so long, and so does what nobody knows. */
function isOfUse(
  picture: Picture,
  node: SeenNode,
  { taint, now }: { readonly taint: string; readonly now: Instant },
): boolean {
  const { facts } = node;
  if (facts.marks || !picture.sight.isClear(now)) return true;
  if (!isMeant(picture, facts, taint)) return false;
  const shadow = picture.shadowOf(facts);
  if (!shadow?.status) return taint === ARRIVING;
  const next = nextOf(shadow);
  return next === 'settled' || (next !== undefined && !isForbidden(picture, node, next.version, now));
}

const isMeant = ({ rulings }: Picture, facts: SeenNode['facts'], taint: string): boolean =>
  facts.managed && (taint === ARRIVING || rulings.groupOf(facts)?.prefersUpdated === true);

/** The update that the node has ahead; `settled` where nobody calls it off any more; undefined where there is none. */
function nextOf({ active, state, version, status }: ShadowFacts): { readonly version: string } | 'settled' | undefined {
  const { current = '', target = '', record } = status ?? {};
  if (!active) return current === target ? undefined : { version: target };
  return state === 'Idle' || record?.requested === true ? 'settled' : { version: version ?? target };
}

function leftIn(picture: Picture): readonly string[] {
  const nodes = [...picture.nodes.values()];
  return [
    ...nodes.flatMap((node) => leftOn(picture, node)),
    ...permits(picture, nodes),
    ...shadows(picture),
    ...requests(picture, nodes),
  ];
}

/** A cordon is told with its author: who lifts it and cordons again begins anew. */
function leftOn(picture: Picture, node: SeenNode): readonly string[] {
  const { facts, cordon, signs, robbedAt } = node;
  const shadow = picture.shadowOf(facts);
  const isAtRest = shadow ? shadow.status !== undefined && !shadow.active : !picture.agentOf(facts.name).runs;
  if (!isAtRest) return NOTHING;
  if (facts.marks) return [`${facts.name} is at rest and bears marks`];
  if (isForgotten(node)) return [`${facts.name} is at rest without marks, and cordoned by ${cordon?.by}`];
  return robbedAt > -Infinity
    ? NOTHING
    : [...signs].flatMap(([sign, by]) =>
        isOperator(by) ? `${facts.name} is at rest without marks, and bears ${sign}` : [],
      );
}

/** A person who holds a node, or has changed its marks since it was cordoned, cares for its cordon. */
function isForgotten({ facts, cordon, robbedAt }: SeenNode): boolean {
  return cordon !== undefined && isOperator(cordon.by) && robbedAt < cordon.at && !facts.held;
}

function permits(picture: Picture, nodes: readonly SeenNode[]): readonly string[] {
  return picture.lease.permits.flatMap(({ nodeUid, shadow }) => {
    const node = nodes.find(({ facts }) => facts.uid === nodeUid);
    if (!node) return [`the permit of ${shadow} is that of a node which is gone`];
    const owned = picture.shadowOf(node.facts);
    const isFree = owned?.status && !owned.active && !node.facts.marks;
    return isFree ? [`${node.facts.name} is at rest and has a permit`] : [];
  });
}

/** P9: once nothing is ahead of a node, nobody asks for it any more. */
function requests(picture: Picture, nodes: readonly SeenNode[]): readonly string[] {
  return nodes.flatMap(({ facts }) => {
    const { active, status } = picture.shadowOf(facts) ?? {};
    const isDone = !active && status !== undefined && status.current === status.target;
    return facts.isAskedFor && facts.managed && isDone
      ? [`${facts.name} has no update ahead, and is asked for still`]
      : [];
  });
}

/** A shadow that somebody has taken from its owner is nobody's to delete. */
function shadows({ shadows: all, nodes }: Picture): readonly string[] {
  return [...all.values()].flatMap(({ name, node, owners }) => {
    const facts = nodes.get(node)?.facts;
    const isOwned = facts?.managed === true && owners.includes(facts.uid);
    return owners.length === 0 || isOwned ? [] : [`${name} is the shadow of no managed node`];
  });
}

/**
 * How a node stands whose host is locked still; `wrong` where it is not. Nobody unlocks one that is kept as it is, or of which nobody knows that it
 * was the agent.
 */
export function lockedAs(
  { locks, rulings }: Picture,
  facts: SeenNode['facts'],
  wrong: string,
): 'kept' | 'going' | { readonly wrong: string } {
  if (!isLocked(locks.of(facts.name))) return { wrong };
  return facts.held || locks.isLost(facts.name) || rulings.groupOf(facts)?.paused !== false ? 'kept' : 'going';
}
