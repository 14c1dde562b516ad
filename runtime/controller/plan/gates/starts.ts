import { rfc3339 } from '../../../lib/clock.ts';
import {
  ASKED_FOR_ANNOTATION,
  MOVED_NOBODY_ANNOTATION,
  STAGE_ANNOTATION,
  UPDATED_FROM_ANNOTATION,
  VERSION_BEFORE_ANNOTATION,
} from '../../../api/shadow/names.ts';
import { claimsOf, termsOf } from '../groups/busy.ts';
import type { Start } from '../facts/commands.ts';
import { isAlone, isOfEach, leftBy } from './alike.ts';
import { type Asking, askingOf, type World } from './asking.ts';
import { Crowds, type Crowd } from './crowds.ts';
import { firstOf, type Found, isNext, isOfAll, OWN, type Question, queueOf } from './gates.ts';
import type { Group } from '../groups/groups.ts';
import type { AssessedNode, Fleet } from '../nodes/health.ts';
import { give, type Given } from '../facts/places.ts';
import { NEVER } from '../facts/requeue.ts';
import { proofClaims } from './others.ts';
import { inTurn, isLast, isRuled, type Ruled } from './turns.ts';
import type { Finding } from '../facts/verdict.ts';

/** What keeps a node from starting. */
export interface Kept {
  readonly finding: Finding;
  /** Which gate says so, by its place in the list: the last one is the nearest to a start. */
  readonly gate: number;
}

export interface Starts {
  readonly commands: readonly Start[];
  /** The nodes that these start, each with what it starts on. */
  readonly starting: ReadonlyMap<AssessedNode, Ruled>;
  /** By the place of the node, what keeps it from starting the update that it is offered. */
  readonly kept: readonly (Kept | undefined)[];
  /** Under each policy, what is nearest to a start of all that keeps its nodes; of several the first by name. */
  readonly nearest: ReadonlyMap<Group, Finding>;
  /** Policies under which a node could start if other nodes did not use up the policy's budget, or had proven the release. */
  readonly waiting: ReadonlySet<Group>;
  /** A node could start if the budget over all policies were not used up. */
  readonly isCapped: boolean;
  /** When time alone changes any of this for the nodes of a policy. */
  readonly changesAt: ReadonlyMap<Group, number>;
  readonly given: Given;
}

/** Decides which nodes start: what is left of the places goes to the candidates in their turn. */
export function chooseStarts({ all, alike }: Pick<Fleet, 'all' | 'alike'>, world: World): Starts {
  const round = new Round(all, world);
  alike.forEach((those) => round.consider(those));
  return round.end();
}

/** What keeps a node, with its place among those that wait for a permit. */
type Placed = Found & { readonly position?: number | undefined };

class Round {
  #world: World;
  readonly #starting = new Map<AssessedNode, Ruled>();
  readonly #kept: (Kept | undefined)[];
  readonly #nearest = new Map<Group, Kept & { readonly name: string }>();
  readonly #changesAt = new Map<Group, number>();
  readonly #crowds = new Crowds();
  /** The node that the controller runs on. It comes last, because its drain interrupts the controller. */
  #own: Ruled | undefined;
  /** What other nodes stop, whichever start meanwhile. */
  readonly #stopped: Crowd[] = [];
  /** Candidates that did not start, in the order of their turns. */
  readonly #left: Ruled[] = [];

  constructor(all: Fleet['all'], world: World) {
    this.#kept = all.map(() => undefined);
    this.#world = world;
  }

  consider(those: readonly AssessedNode[]): void {
    const first = this.#asking(those[0]);
    if (!first) return;
    const byAlone = Map.groupBy(those, (info) => isAlone(info, first.release, this.#world));
    for (const info of byAlone.get(true) ?? []) this.#ask([info], OWN);
    const alike = byAlone.get(false) ?? [];
    const one = this.#asking(alike[0]);
    if (!one) return;
    const left = leftBy(one, this.#world);
    if (left.some((own) => isOfEach(own, one))) alike.forEach((info) => this.#ask([info], left));
    else this.#ask(alike, left);
  }

  #ask(those: readonly AssessedNode[], questions: readonly Question[]): void {
    const asking = this.#asking(those[0]);
    if (!asking) return;
    const own = firstOf(asking, this.#world, questions);
    if (own.finding) this.#keep(asking, own, those);
    else if (asking.group) this.#note(asking.group, own.changesAt);
    if (own.finding || !isRuled(asking)) return;
    if (isLast(asking, this.#world)) this.#own = asking;
    else this.#crowds.join(asking, those, this.#world);
  }

  /** Made anew where it is needed again: ten thousand that are kept for a plan cost more than to make them twice. */
  #asking(info: AssessedNode | undefined): Asking | undefined {
    const { shadow } = info ?? {};
    const version = info && versionFor(info);
    return info && shadow && version !== undefined ? askingOf(info, { shadow, version }, this.#world) : undefined;
  }

  /** Offers what is left of the places to each policy in its turn. */
  end(): Starts {
    for (const group of this.#world.groups.all) this.#offerTo(group);
    if (this.#own) this.#offer(this.#own);
    const unstarted = this.#explain();
    return {
      commands: [...this.#starting.values()].map((one) => startOf(one, this.#world.now)),
      starting: this.#starting,
      kept: this.#kept,
      nearest: new Map([...this.#nearest].map(([group, { finding }]) => [group, finding])),
      changesAt: this.#changesAt,
      given: this.#world.given,
      ...unstarted,
    };
  }

  /** A candidate that other nodes stop now stays stopped, whichever nodes start meanwhile. So only the others take a turn. */
  #offerTo(group: Group): void {
    const open: Ruled[] = [];
    for (const crowd of this.#crowds.of(group)) {
      const found = this.#crowds.ask(crowd.one, this.#world);
      if (isOfAll(found) && !isNext(found)) this.#stopped.push(crowd);
      else for (const one of crowd.members.map((info) => this.#asking(info))) if (isRuled(one)) open.push(one);
    }
    const { places, now } = this.#world;
    inTurn(open, { group, places: places.of(group), offer: (candidate) => this.#offer(candidate), now });
  }

  #offer(candidate: Ruled): 'given' | 'queued' | 'stopped' {
    const { info, version, group } = candidate;
    const found = this.#crowds.ask(candidate, this.#world);
    if (found.finding) {
      this.#left.push(candidate);
      return isNext(found) ? 'queued' : 'stopped';
    }
    const { places, given } = this.#world;
    const claims = [...claimsOf(candidate, places), ...proofClaims(candidate, 'moving')];
    this.#world = { ...this.#world, given: give(given, claims) };
    group.releases.begin(info, version);
    this.#starting.set(info, candidate);
    return 'given';
  }

  /** Records why each remaining candidate does not start. All starts are known by now, so the next plan says the same. */
  #explain(): Pick<Starts, 'waiting' | 'isCapped'> {
    const waiting = new Set<Group>();
    const positions = new Map<Group, number>();
    let isOneCapped = false;
    const explain = (one: Ruled, members?: readonly AssessedNode[]): void => {
      const { group } = one;
      const found = this.#crowds.ask(one, this.#world);
      const position = isNext(found) ? (positions.get(group) ?? 0) + 1 : undefined;
      if (position !== undefined) positions.set(group, position);
      this.#keep(one, { ...found, position }, members);
      isOneCapped ||= queueOf(found) === 'all';
      if (queueOf(found) === 'policy') waiting.add(group);
    };
    for (const { one, members } of this.#stopped) explain(one, members);
    for (const candidate of this.#left) explain(candidate);
    return { waiting, isCapped: isOneCapped };
  }

  /** @param those by name, the first of them is the one that was asked */
  #keep({ info, group }: Asking, found: Placed, those: readonly AssessedNode[] = [info]): void {
    const { gate, finding, changesAt, position } = found;
    if (finding && gate !== undefined) {
      const kept = { finding: position === undefined ? finding : { ...finding, position }, gate };
      for (const { at } of those) this.#kept[at] = kept;
      if (group) this.#approach(group, kept, info.node.name);
    }
    if (group) this.#note(group, changesAt);
  }

  #note(group: Group, changesAt: number): void {
    const isAhead = changesAt > this.#world.now && changesAt !== NEVER;
    if (isAhead && changesAt < (this.#changesAt.get(group) ?? NEVER)) this.#changesAt.set(group, changesAt);
  }

  #approach(group: Group, kept: Kept, name: string): void {
    const nearest = this.#nearest.get(group);
    const isNearer = !nearest || kept.gate > nearest.gate || (kept.gate === nearest.gate && name < nearest.name);
    if (isNearer) this.#nearest.set(group, { ...kept, name });
  }
}

/** Nodes of the policy start. */
export const isStarting = ({ starting }: Pick<Starts, 'starting'>, group: Group): boolean =>
  [...starting.values()].some((one) => one.group === group);

/** The version that the node would start on; undefined where it has no agent, or is not back from its last update. */
function versionFor({ health, offered }: AssessedNode): string | undefined {
  return health.agentSilent || health.notReturned ? undefined : offered;
}

function startOf(candidate: Ruled, now: number): Start {
  const { shadow, version } = candidate;
  const { name, askedBy } = candidate.info.node;
  return {
    kind: 'start',
    node: name,
    resourceVersion: shadow.resourceVersion,
    spec: { state: 'StagedAndPerformedUpdate', version, state_transition_timestamp: rfc3339(now) },
    ...termsOf(candidate),
    ...(askedBy !== undefined && { askedBy }),
    annotations: annotationsOf(candidate),
  };
}

function annotationsOf({ shadow, info: { node } }: Ruled): Start['annotations'] {
  const { status, hint, movedNobody } = shadow;
  return {
    ...(status && { [UPDATED_FROM_ANNOTATION]: status.current_version }),
    ...(status && { [VERSION_BEFORE_ANNOTATION]: shadow.updatedFrom ?? null }),
    ...(hint && { [STAGE_ANNOTATION]: null }),
    ...askedFor(shadow, node),
    ...(movedNobody && { [MOVED_NOBODY_ANNOTATION]: null }),
    ...shadow.order?.annotations,
  };
}

/** One that goes on to a newer offer is still what somebody has asked for. */
function askedFor({ spec, isAskedFor }: Ruled['shadow'], { askedBy }: AssessedNode['node']): Start['annotations'] {
  const isOver = isAskedFor && spec.state === 'Idle';
  return askedBy !== undefined || isOver ? { [ASKED_FOR_ANNOTATION]: askedBy ?? null } : {};
}
