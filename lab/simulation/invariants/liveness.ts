import type { Instant, Scenario } from '../types.ts';
import { HOUR, MINUTE } from '../units.ts';
import { at as within, compareVersions, isController, nodeOf, shadowFacts, type ShadowFacts, text } from './facts.ts';
import type { Picture } from './picture.ts';
import { callsSomebody, isForPerson, standingBy } from './reasons.ts';
import { isDeserted, lockedAs } from './rest.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';
import { type SeenNode, takesPods } from './seen-node.ts';
import { type Terms, termsOf } from './settings.ts';

/** What an update takes at most where nothing goes wrong: looking for it, the download, the drain's pods and volumes, two boots. */
const UPDATE = 20 * MINUTE;
/** An agent waits so long for a host whose lock is held, and says then that it hangs (docs/operating.md). */
const HANGS = 3 * HOUR + 15 * MINUTE;
/** The longest calm. Larger fleets are held to their pace, and an update that hangs has been reported by then. */
const LONGEST = 4.5 * HOUR;

/** How long verdicts and agents may take to catch up with a change. */
const SAID_WITHIN = 10 * MINUTE;

/** What a node's update takes. */
const updateMs = ({ exclusionMs, soakMs }: Terms): number => UPDATE + exclusionMs + soakMs;

/** When everything that a storm has left is sorted out: each timeout has passed once, and what waits for it has gone on. */
function settledMs({ agentTimeoutMs, returnTimeoutMs, drainTimeoutMs, soakTimeoutMs, notReadyHoldMs }: Terms): number {
  const drain = Number.isFinite(drainTimeoutMs) ? drainTimeoutMs : 0;
  return agentTimeoutMs + returnTimeoutMs + drain + soakTimeoutMs + notReadyHoldMs + 30 * MINUTE;
}

/** How long the calm has to last at most for a fleet to be updated, milliseconds. */
export function calmMs(scenario: Scenario): number {
  const terms = termsOf(scenario);
  const atOnce = hasPolicies(scenario) ? 1 : terms.maxConcurrent(scenario.nodes);
  const rounds = Math.ceil(scenario.nodes / atOnce) + 2;
  const whole = settledMs(terms) + rounds * updateMs(terms);
  return Math.min(Math.max(HOUR, terms.hasWindows ? 2 * whole + 2 * HOUR : whole), LONGEST);
}

const hasPolicies = ({ policies: { policies } }: Scenario): boolean => Object.keys(policies).length > 0;

/** How a node stands: it is where it should be; on its way; kept where it is with a right reason; or wrong. */
export type Standing = 'done' | 'going' | 'kept' | { readonly wrong: string };

/** Once nothing goes wrong any more, every healthy node is updated; every other says what is so, and who waits for a person says that. */
export const liveness: Rule = {
  name: 'liveness',
  begin(picture, scenario) {
    const fleet = new Fleet(picture, scenario);
    let known = -1;
    let met = false;
    let now: Instant = 0;
    return {
      see(entry) {
        now = entry.at;
        if (entry.kind === 'process' && isController(entry.process)) fleet.ledSince = now;
        if (entry.kind === 'write') fleet.note(entry);
        return NOTHING;
      },
      isMet() {
        if (picture.calmAt === undefined) return false;
        if (picture.version !== known) met = fleet.isSettled(now);
        known = picture.version;
        return met;
      },
      end: (endedAt) => (picture.calmAt === undefined ? NOTHING : fleet.breaches(endedAt)),
    };
  },
};

/** The nodes of a fleet by how they stand. */
export class Fleet {
  readonly picture: Picture;
  /** Versions on which the pods of a DaemonSet do not run. */
  readonly breaking: ReadonlySet<string>;
  readonly #terms: Terms;
  readonly #newest: string;
  readonly #hasPolicies: boolean;
  /** UIDs of nodes whose missing agent an Event has told of. */
  readonly #missed = new Set<string>();
  /** When its shadow last changed in what verdicts go by, by name of the node. */
  readonly #movedAt = new Map<string, Instant>();
  #holder = '';
  /** When another controller came to lead, or one began or ended: who begins counts anew how long something lasts. */
  ledSince: Instant = 0;
  /** The node that was last found not to be settled. It is looked at first: most likely it still is not. */
  #awaited: string | undefined;

  constructor(picture: Picture, scenario: Scenario) {
    this.picture = picture;
    this.#terms = picture.terms;
    const versions = scenario.releases.map(({ version }) => version);
    this.breaking = new Set(scenario.releases.flatMap((one) => (one.bad === 'breaks-daemon' ? one.version : [])));
    this.#newest = versions.reduce((a, b) => (compareVersions(a, b) < 0 ? b : a));
    this.#hasPolicies = hasPolicies(scenario);
  }

  note({ resource, name, at: now, before, after }: Write): void {
    const { holder } = this.picture.lease;
    if (holder !== this.#holder) this.ledSince = now;
    this.#holder = holder;
    if (resource === 'events' && text(within(after, 'reason')) === 'AgentMissing')
      this.#missed.add(text(within(after, 'involvedObject', 'uid')) ?? '');
    if (resource !== 'bottlerocketshadows') return;
    if (stepOf(before && shadowFacts(before)) === stepOf(after && shadowFacts(after))) return;
    this.#movedAt.set(nodeOf(name), now);
  }

  /** Whether each node is where it should be, or kept where it is with a right reason. It is asked after everything that happens. */
  isSettled(now: Instant): boolean {
    if (isDeserted(this.picture)) return true;
    const isStill = (node: SeenNode): boolean => STILL.has(this.#standing(node, now));
    const { nodes } = this.picture;
    const awaited = nodes.get(this.#awaited ?? '');
    if (awaited && !isStill(awaited)) return false;
    this.#awaited = [...nodes].find(([, node]) => !isStill(node))?.[0];
    return this.#awaited === undefined;
  }

  breaches(now: Instant): readonly string[] {
    // Nobody is left who could say anything.
    if (isDeserted(this.picture)) return NOTHING;
    const standings = [...this.picture.nodes.values()].map((node) => [node, this.#standing(node, now)] as const);
    const wrong = standings.flatMap(([{ facts }, one]) =>
      typeof one === 'string' ? [] : [`${facts.name}: ${one.wrong}`],
    );
    const going = standings.filter(([node, one]) => one === 'going' && this.#isHealthy(node)).length;
    if (going === 0 || wrong.length > 0) return wrong;
    if (this.#finishedLately(now) < this.#promised(now))
      return [`${going} nodes still wait, and the fleet is slower than it may be`];
    return this.#isIdle(now) ? [`${going} nodes wait, and none is on its way`] : NOTHING;
  }

  /** Whether each node that takes a place waits for a person and says so. One that has just gone down is most likely rebooting. */
  places(now: Instant): 'free' | 'moving' | 'stuck' | 'silent' {
    const { nodes, updates } = this.picture;
    const takers = [...nodes.values()].filter(({ facts }) => facts.marks || updates.has(facts.uid) || isOut(facts));
    if (takers.length === 0) return 'free';
    const confined = takers.filter((node) => this.#isConfined(node));
    if (takers.some((node) => this.#isThere(node) && !confined.includes(node))) return 'moving';
    const isSaid = takers.some(({ facts }) => callsSomebody(this.#reasonOf(facts)));
    if (isSaid || confined.length > 0) return 'stuck';
    const returnsWithin = this.#terms.returnTimeoutMs + this.#terms.notReadyHoldMs + SAID_WITHIN;
    return takers.some((node) => now - this.#changedAt(node) < returnsWithin) ? 'moving' : 'silent';
  }

  /** Whether a node of the policy is still being updated, and may finish. */
  isMoving(name: string, now: Instant): boolean {
    const group = this.picture.rulings.groups.find((one) => one.name === name);
    const members = group ? this.picture.membersOf(group) : [];
    return members.some((node) => this.#isHealthy(node) && this.#standing(node, now) === 'going');
  }

  /** Nothing but the operator's decisions keeps it from its update. */
  #isHealthy(node: SeenNode): boolean {
    return !node.facts.held && this.#isThere(node);
  }

  /** The same, but for what an administrator holds: its update goes on where it has begun to be drained. */
  #isThere({ facts }: SeenNode): boolean {
    const { hosts, shadows, processes } = this.picture;
    const isOwned = shadows.get(`brs-${facts.name}`)?.owners.length !== 0;
    const agent = processes.get(`agent-${facts.name}`);
    return facts.managed && facts.ready && hosts.get(facts.name)?.up === true && agent?.runs === true && isOwned;
  }

  #standing(node: SeenNode, now: Instant): Standing {
    if (!node.facts.managed) return 'done';
    const standing = this.#standingNow(node, now);
    if (typeof standing === 'string') return standing;
    const isYoung = now - this.#changedAt(node) < this.#youngMs(node);
    return isYoung ? 'going' : standing;
  }

  /** As it would be if every process had caught up. */
  #standingNow(node: SeenNode, now: Instant): Standing {
    const shadow = this.picture.shadowOf(node.facts);
    // Conditions have no place without a status.
    if (!shadow?.status) return this.#isUntold(node) ? { wrong: 'nothing tells why it is not registered' } : 'kept';
    if (!this.#isThere(node)) return this.#standingBy(node, shadow, now);
    const { status } = shadow;
    const said = saidOf(shadow);
    if (shadow.active) return this.#underWay(node, said, now);
    if (isForPerson({ node, shadow, fleet: this })) return 'kept';
    if (compareVersions(status.target, this.#newest) < 0)
      return lockedAs(this.picture, node.facts, `it is offered ${this.#newest}, and says ${status.target}`);
    if (status.current !== status.target) return this.#standingBy(node, shadow, now);
    return said === 'UpToDate' ? 'done' : { wrong: `it runs ${status.current}, and is said to be ${said}` };
  }

  /** By its verdict: where it is behind, or its agent is silent, it says what is so. */
  #standingBy(node: SeenNode, shadow: ShadowFacts, now: Instant): Standing {
    const { current = '', target = '' } = shadow.status ?? {};
    if (!shadow.active && current === target && !this.#isSilent(node)) return 'done';
    const { runs } = this.picture.agentOf(node.facts.name);
    const standing = standingBy({ node, shadow, runs, now, fleet: this }, this.#isHealthy(node));
    return standing ?? { wrong: `it runs ${current}, is offered ${target}, and is said to be ${saidOf(shadow)}` };
  }

  #isSilent({ facts }: SeenNode): boolean {
    return facts.ready && !this.picture.agentOf(facts.name).runs;
  }

  /** While a kubelet is down nobody knows whether the agent runs. No Event tells of a pod that was taken from its owner. */
  #isUntold(node: SeenNode): boolean {
    const { facts } = node;
    const isTaken = this.picture.shadows.get(`brs-${facts.name}`)?.owners.length === 0;
    const { runs } = this.picture.agentOf(facts.name);
    return this.#isThere(node) || !(isTaken || runs || !facts.ready || this.#missed.has(facts.uid));
  }

  /** How long after a change nothing has to be said of it. In the midst of an update a node may be rebooting. */
  #youngMs(node: SeenNode): number {
    if (this.#isThere(node)) return SAID_WITHIN;
    const { agentTimeoutMs, returnTimeoutMs, soakTimeoutMs } = this.#terms;
    const isActive = this.picture.shadowOf(node.facts)?.active === true;
    const whileActiveMs = isActive ? Math.max(returnTimeoutMs, soakTimeoutMs) : 0;
    return SAID_WITHIN + (this.#isSilent(node) ? agentTimeoutMs : whileActiveMs) + this.picture.sight.apartMs;
  }

  /** When anything last changed by which its verdict goes. */
  #changedAt(node: SeenNode): Instant {
    const { facts, readyAt, heldAt, managedAt } = node;
    const { calmAt = 0, processes, restedAt } = this.picture;
    const agentAt = processes.get(`agent-${facts.name}`)?.since ?? 0;
    const ownAt = Math.max(
      readyAt,
      heldAt,
      managedAt,
      agentAt,
      restedAt.get(facts.uid) ?? 0,
      this.picture.ruledAt(node),
    );
    return Math.max(calmAt, this.ledSince, this.#movedAt.get(facts.name) ?? 0, ownAt);
  }

  #reasonOf(facts: SeenNode['facts']): string | undefined {
    return this.picture.shadowOf(facts)?.verdict?.reason;
  }

  /** Its drain waits for room, as its policy wants, or for budgets, and says so: no other node takes its pods, so they will let none go. */
  #isConfined({ facts }: SeenNode): boolean {
    const reason = this.#reasonOf(facts);
    if (reason === 'NoRoom') return this.picture.rulings.groupOf(facts)?.waitsForRoom === true;
    if (reason !== 'DrainBlocked') return false;
    return [...this.picture.nodes.values()].every((other) => other.facts.uid === facts.uid || !takesPods(other));
  }

  #underWay(node: SeenNode, said: string, now: Instant): Standing {
    if (this.#isConfined(node)) return 'kept';
    const { calmAt = now, updates } = this.picture;
    const lastsMs = now - Math.max(calmAt, updates.get(node.facts.uid)?.at ?? 0);
    if (lastsMs < HANGS) return 'going';
    return { wrong: `its update has lasted for ${Math.round(lastsMs / MINUTE)} minutes, and it is said to be ${said}` };
  }

  #finishedLately(now: Instant): number {
    const from = this.picture.calmAt ?? now;
    return [...this.picture.restedAt.values()].filter((at) => at >= from).length;
  }

  /**
   * What the fleet must have done by now: one update after another in each place. Not while some host hangs, is kept out by a window, or pauses
   * after a failure, for which others may have to wait.
   */
  #promised(now: Instant): number {
    const { nodes, updates, calmAt = now } = this.picture;
    const isHeldUp = [...updates.values()].some(({ at }) => now - at > 2 * updateMs(this.#terms));
    const pauses = [...nodes.values()].some(
      ({ facts }) => this.picture.shadowOf(facts)?.verdict?.reason === 'BackingOff',
    );
    if (isHeldUp || pauses || this.#terms.hasWindows || this.#hasPolicies || this.places(now) === 'stuck') return 0;
    const rounds = Math.floor((now - calmAt - settledMs(this.#terms)) / updateMs(this.#terms)) - 2;
    return Math.max(0, rounds) * this.#terms.maxConcurrent(this.picture.managed());
  }

  /** No node is being updated, and none has been for longer than any schedule or pause lasts. */
  #isIdle(now: Instant): boolean {
    const { updates, endedAt, calmAt = now } = this.picture;
    const last = Math.max(calmAt, ...endedAt.values());
    return updates.size === 0 && now - last > settledMs(this.#terms) + (this.#terms.hasWindows ? 3 : 1.5) * HOUR;
  }
}

const isOut = ({ managed, ready }: SeenNode['facts']): boolean => managed && !ready;

const saidOf = ({ verdict }: ShadowFacts): string => verdict?.reason ?? 'nothing';

const stepOf = (shadow: ShadowFacts | undefined): string => {
  const { state, version, status, owners } = shadow ?? {};
  return JSON.stringify([state, version, owners, status?.state, status?.current, status?.target, status?.record]);
};

const STILL: ReadonlySet<Standing> = new Set(['done', 'kept'] as const);
