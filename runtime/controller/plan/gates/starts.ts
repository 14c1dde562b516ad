import { rfc3339 } from '../../../lib/clock.ts';
import { STAGE_ANNOTATION, UPDATED_FROM_ANNOTATION } from '../../../api/shadow/names.ts';
import { claimsOf, termsOf } from '../groups/busy.ts';
import type { Start } from '../facts/commands.ts';
import { type Asking, askingOf, type World } from './asking.ts';
import { firstOf, type Found, isNext, OTHERS, queueOf } from './gates.ts';
import type { Group } from '../groups/groups.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { give, type Given } from '../groups/places.ts';
import { NEVER } from '../facts/requeue.ts';
import { type Candidate, candidateOf, inTurn } from './turns.ts';
import type { Finding } from '../facts/verdict.ts';

/** What keeps a node from starting. */
export interface Kept {
  readonly finding: Finding;
  /** Which gate says so, by its place in the list: the last one is the nearest to a start. */
  readonly gate: number;
}

export interface Starts {
  readonly commands: readonly Start[];
  /** The nodes that these start. */
  readonly nodes: readonly AssessedNode[];
  /** The policies whose nodes these are. */
  readonly starting: ReadonlySet<Group>;
  /** By UID of the node, what keeps it from starting the update that it is offered. */
  readonly kept: ReadonlyMap<string, Kept>;
  /** Policies under which a node could start if other nodes did not use up the policy's budget, or had proven the release. */
  readonly waiting: ReadonlySet<Group>;
  /** A node could start if the budget over all policies were not used up. */
  readonly isCapped: boolean;
  /** When time alone changes any of this for the nodes of a policy. */
  readonly changesAt: ReadonlyMap<Group, number>;
  readonly given: Given;
}

/** Decides which nodes start: what is left of the places goes to the candidates in their turn. @param managed nodes of the fleet */
export function chooseStarts(managed: readonly AssessedNode[], world: World): Starts {
  const round = new Round(world);
  for (const info of managed) round.consider(info);
  return round.end();
}

class Round {
  #world: World;
  readonly #commands: Start[] = [];
  readonly #nodes: AssessedNode[] = [];
  readonly #starting = new Set<Group>();
  readonly #kept = new Map<string, Kept>();
  readonly #changesAt = new Map<Group, number>();
  readonly #ready = new Map<Group, Candidate[]>();
  /** The node that the controller runs on. It comes last, because its drain interrupts the controller. */
  #own: Candidate | undefined;
  /** Candidates that did not start, in the order of their turns. */
  readonly #left: Candidate[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  consider(info: AssessedNode): void {
    const { shadow } = info;
    const version = versionFor(info);
    if (!shadow || version === undefined) return;
    const asking = askingOf(info, { shadow, version }, this.#world);
    const alone = firstOf(asking, this.#world, { to: OTHERS });
    this.#say(asking, alone);
    const candidate = alone.finding ? undefined : candidateOf(asking);
    if (candidate) this.#enqueue(candidate);
  }

  /** Offers what is left of the places to each policy in its turn. */
  end(): Starts {
    for (const group of this.#world.groups.all) this.#offerTo(group);
    if (this.#own) this.#offer(this.#own);
    const unstarted = this.#explain();
    return {
      commands: this.#commands,
      nodes: this.#nodes,
      starting: this.#starting,
      kept: this.#kept,
      changesAt: this.#changesAt,
      given: this.#world.given,
      ...unstarted,
    };
  }

  #enqueue(candidate: Candidate): void {
    const { info, group, isAsked } = candidate;
    const ready = this.#ready.get(group);
    if (info.node.name === this.#world.settings.ownNode && !isAsked) this.#own = candidate;
    else if (ready) ready.push(candidate);
    else this.#ready.set(group, [candidate]);
  }

  /** A candidate that other nodes stop now stays stopped, whichever nodes start meanwhile. So only the others take a turn. */
  #offerTo(group: Group): void {
    const open: Candidate[] = [];
    for (const candidate of this.#ready.get(group) ?? []) {
      const found = firstOf(candidate, this.#world, { from: OTHERS });
      if (found.finding && !isNext(found)) this.#left.push(candidate);
      else open.push(candidate);
    }
    inTurn(open, { group, places: this.#world.places.of(group), offer: (candidate) => this.#offer(candidate) });
  }

  #offer(candidate: Candidate): 'given' | 'queued' | 'stopped' {
    const { info, version, group } = candidate;
    const found = firstOf(candidate, this.#world, { from: OTHERS });
    if (found.finding) {
      this.#left.push(candidate);
      return isNext(found) ? 'queued' : 'stopped';
    }
    const { places, given, now } = this.#world;
    this.#world = { ...this.#world, given: give(given, claimsOf(candidate, places)) };
    group.releases.begin(info, version);
    this.#commands.push(startOf(candidate, now));
    this.#nodes.push(info);
    this.#starting.add(group);
    return 'given';
  }

  /** Records why each remaining candidate does not start. All starts are known by now, so the next plan says the same. */
  #explain(): Pick<Starts, 'waiting' | 'isCapped'> {
    const waiting = new Set<Group>();
    const positions = new Map<Group, number>();
    let isOneCapped = false;
    for (const candidate of this.#left) {
      const { group } = candidate;
      const found = firstOf(candidate, this.#world, { from: OTHERS });
      const position = isNext(found) ? (positions.get(group) ?? 0) + 1 : undefined;
      if (position !== undefined) positions.set(group, position);
      this.#say(candidate, found, position);
      isOneCapped ||= queueOf(found) === 'all';
      if (queueOf(found) === 'policy') waiting.add(group);
    }
    return { waiting, isCapped: isOneCapped };
  }

  #say({ info, group }: Asking, { gate, finding, changesAt }: Found, position?: number): void {
    const more = position === undefined ? {} : { position };
    if (finding && gate !== undefined) this.#kept.set(info.node.uid, { finding: { ...finding, ...more }, gate });
    const isAhead = changesAt > this.#world.now && changesAt < NEVER;
    if (group && isAhead && changesAt < (this.#changesAt.get(group) ?? NEVER)) this.#changesAt.set(group, changesAt);
  }
}

/** The version that the node would start on; undefined where it has no agent, or is not back from its last update. */
function versionFor({ health, offered }: AssessedNode): string | undefined {
  return health.agentSilent || health.notReturned ? undefined : offered;
}

function startOf(candidate: Candidate, now: number): Start {
  const { shadow, version } = candidate;
  const { name, askedBy } = candidate.info.node;
  return {
    kind: 'start',
    node: name,
    resourceVersion: shadow.resourceVersion,
    spec: { state: 'StagedAndPerformedUpdate', version, state_transition_timestamp: rfc3339(now) },
    ...termsOf(candidate),
    ...(askedBy !== undefined && { askedBy }),
    annotations: {
      ...(shadow.status && { [UPDATED_FROM_ANNOTATION]: shadow.status.current_version }),
      ...(shadow.hint && { [STAGE_ANNOTATION]: null }),
      ...shadow.order?.annotations,
    },
  };
}
