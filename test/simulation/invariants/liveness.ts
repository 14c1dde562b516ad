import type { Instant, Scenario } from '../types.ts';
import { compareVersions, type ShadowFacts, type Verdict } from './facts.ts';
import type { Picture } from './picture.ts';
import { type SeenNode, takesPods } from './seen-node.ts';
import { isInDrain, OWN, RIGHT } from './reasons.ts';
import { isDeserted } from './rest.ts';
import { NOTHING, type Rule } from './rule.ts';
import { type Terms, termsOf } from './settings.ts';
import { Silences } from './silences.ts';
import { SAID_WITHIN, Unwell } from './unwell.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What an update takes at most where nothing goes wrong: looking for it, the download, the drain's pods and volumes, two boots. */
const UPDATE = 20 * MINUTE;
/** An agent waits so long for a host whose lock is held, and says then that it hangs (docs/operating.md). */
const HANGS = 3 * HOUR + 15 * MINUTE;
/** The calm lasts no longer, and fleets that would need more are held to their pace. An update that hangs is told of by then. */
const LONGEST = 4.5 * HOUR;

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

/** How a node stands: it is where it should be; on its way; kept where it is with a right reason; or wrong, which some may be for longer. */
export type Standing = 'done' | 'going' | 'kept' | { readonly wrong: string; readonly moreMs?: number };

export const liveness: Rule = {
  name: 'liveness',
  begin(picture, scenario) {
    const newest = scenario.releases
      .map(({ version }) => version)
      .reduce((a, b) => (compareVersions(a, b) < 0 ? b : a));
    const sorted = new Sorted(picture, { scenario, newest });
    const silences = new Silences(sorted);
    let known = -1;
    let met = false;
    let now: Instant = 0;
    return {
      see(entry) {
        now = entry.at;
        sorted.unwell.see(entry);
        return silences.look(now);
      },
      isMet() {
        if (picture.calmAt === undefined) return false;
        if (picture.version !== known) met = sorted.areSettled(now);
        known = picture.version;
        return met;
      },
      end: (endedAt) =>
        picture.calmAt === undefined ? NOTHING : sorted.breaches(endedAt, (name) => silences.wasTold(name)),
    };
  },
};

/** The nodes of a fleet by how they stand. */
export class Sorted {
  readonly picture: Picture;
  readonly unwell: Unwell;
  readonly #terms: Terms;
  readonly #newest: string;
  readonly #hasPolicies: boolean;
  /** Found not to be settled last. Most likely it still is not, and nobody has to look at the others. */
  #awaited: string | undefined;

  constructor(picture: Picture, { scenario, newest }: { readonly scenario: Scenario; readonly newest: string }) {
    this.picture = picture;
    this.unwell = new Unwell(picture);
    this.#terms = picture.terms;
    this.#newest = newest;
    this.#hasPolicies = hasPolicies(scenario);
  }

  /** Whether each node is where it should be, or kept where it is with a right reason. It is asked after everything that happens. */
  areSettled(now: Instant): boolean {
    if (isDeserted(this.picture)) return true;
    const { nodes } = this.picture;
    const awaited = nodes.get(this.#awaited ?? '');
    if (awaited && !this.#isSettled(awaited, now)) return false;
    this.#awaited = undefined;
    for (const [name, node] of nodes) {
      if (this.#isSettled(node, now)) continue;
      this.#awaited = name;
      return false;
    }
    return true;
  }

  #isSettled(node: SeenNode, now: Instant): boolean {
    const standing = this.#standing(node, now);
    return standing === 'done' || standing === 'kept';
  }

  /** Nobody is left who could say anything. */
  isForsaken(): boolean {
    return isDeserted(this.picture);
  }

  standings(now: Instant): readonly (readonly [string, Standing])[] {
    return [...this.picture.nodes].map(([name, node]) => [name, this.#standing(node, now)] as const);
  }

  breaches(now: Instant, wasTold: (name: string) => boolean): readonly string[] {
    if (this.isForsaken()) return NOTHING;
    const wrong = this.standings(now).flatMap(([name, one]) =>
      typeof one === 'string' || wasTold(name) ? [] : [`${name}: ${one.wrong}`],
    );
    const healthy = [...this.picture.nodes.values()].filter((node) => this.#isHealthy(node));
    const going = healthy.filter((node) => this.#standing(node, now) === 'going').length;
    if (going === 0 || wrong.length > 0) return wrong;
    if (this.#finishedLately(now) < this.#promised(now))
      return [`${going} nodes still wait, and the fleet is slower than it may be`];
    return this.#isIdle(now) ? [`${going} nodes wait, and nobody is on his way`] : wrong;
  }

  /** A machine that is there, with its kubelet, its agent and its label: nothing but the operator's decisions keeps it from its update. */
  #isHealthy(node: SeenNode): boolean {
    return !node.facts.held && this.#isThere(node);
  }

  /** The same, but for what an administrator holds: its update goes on where it has begun to be drained. */
  #isThere({ facts }: SeenNode): boolean {
    const host = this.picture.hosts.get(facts.name);
    const shadow = this.picture.shadows.get(`brs-${facts.name}`);
    const isOwned = shadow === undefined || shadow.owners.length > 0;
    const agent = this.picture.processes.get(`agent-${facts.name}`);
    return facts.managed && facts.ready && host?.up === true && agent?.runs === true && isOwned;
  }

  #standing(node: SeenNode, now: Instant): Standing {
    if (!node.facts.managed) return 'done';
    return this.#isThere(node) ? this.#standingThere(node, now) : this.unwell.standing(node, this, now);
  }

  #standingThere(node: SeenNode, now: Instant): Standing {
    const shadow = this.picture.shadowOf(node.facts);
    const isYoung = now - this.changedAt(node) < SAID_WITHIN;
    const unlessYoung = (wrong: string): Standing => (isYoung ? 'going' : { wrong });
    if (!shadow?.status) return unlessYoung('it has an agent, and is not registered');
    const { status, verdict } = shadow;
    // Whoever is drained, or down, does not ask what else there is.
    if (shadow.active) return this.#underWay(node, shadow, now);
    if (compareVersions(status.target, this.#newest) < 0)
      return unlessYoung(`it is offered ${this.#newest}, and its agent says ${status.target}`);
    if (status.current !== status.target) return isYoung ? 'going' : this.#kept(node, shadow, now);
    return isSaidUpToDate(verdict)
      ? 'done'
      : unlessYoung(`it runs ${status.current}, and is said to be ${verdict?.reason}`);
  }

  /** When it last became one of which something can be asked. */
  changedAt({ facts, readyAt, heldAt, managedAt }: SeenNode): Instant {
    const { calmAt = 0, processes, restedAt } = this.picture;
    const agentAt = processes.get(`agent-${facts.name}`)?.since ?? 0;
    return Math.max(calmAt, readyAt, heldAt, managedAt, agentAt, restedAt.get(facts.uid) ?? 0);
  }

  /** Its drain waits for budgets, and says so: no other node takes its pods, so they will let none go. */
  #isConfined({ facts }: SeenNode): boolean {
    const { nodes } = this.picture;
    if (this.picture.shadowOf(facts)?.verdict?.reason !== 'DrainBlocked') return false;
    return [...nodes.values()].every((other) => other.facts.uid === facts.uid || !takesPods(other));
  }

  #underWay(node: SeenNode, shadow: ShadowFacts, now: Instant): Standing {
    const reason = shadow.verdict?.reason ?? 'nothing';
    if (reason === 'DrainBlocked' && !isInDrain(shadow)) return this.#undrained(node, now);
    if (this.#isConfined(node)) return 'kept';
    const { calmAt = now, updates } = this.picture;
    const lastsMs = now - Math.max(calmAt, updates.get(node.facts.uid)?.at ?? 0);
    if (lastsMs < HANGS) return 'going';
    return {
      wrong: `its update has lasted for ${Math.round(lastsMs / MINUTE)} minutes, and it is said to be ${reason}`,
    };
  }

  #undrained(node: SeenNode, now: Instant): Standing {
    if (now - this.unwell.movedAt(node) < SAID_WITHIN) return 'going';
    return { wrong: 'it is said to be DrainBlocked, and nobody drains it' };
  }

  #kept(node: SeenNode, shadow: ShadowFacts, now: Instant): Standing {
    const reason = shadow.verdict?.reason ?? 'nothing';
    const { current, target } = shadow.status!;
    // Whoever is held waits for nobody else.
    const isAsked = !node.facts.held || OWN.has(reason);
    const standing = isAsked ? RIGHT[reason]?.({ node, shadow, now, sorted: this }) : undefined;
    return standing ?? { wrong: `it runs ${current}, is offered ${target}, and is said to be ${reason}` };
  }

  /** Who takes places, and whether each of them waits for a person and says so. One that has just gone down is most likely rebooting. */
  places(now: Instant): 'free' | 'moving' | 'stuck' | 'silent' {
    const { nodes, updates } = this.picture;
    const takers = [...nodes.values()].filter((node) => node.facts.marks || updates.has(node.facts.uid) || isOut(node));
    if (takers.length === 0) return 'free';
    const confined = takers.filter((node) => this.#isConfined(node));
    if (takers.some((node) => this.#isThere(node) && !confined.includes(node))) return 'moving';
    const isSaid = takers.some(({ facts }) => PERSON.has(this.picture.shadowOf(facts)?.verdict?.reason ?? ''));
    if (isSaid || confined.length > 0) return 'stuck';
    const returnsWithin = this.#terms.returnTimeoutMs + SAID_WITHIN;
    return takers.some((node) => now - this.changedAt(node) < returnsWithin) ? 'moving' : 'silent';
  }

  /** Whether somebody of the policy goes on who may some day be through. */
  isMoving(name: string, now: Instant): boolean {
    const group = this.picture.rulings.groups.find((one) => one.name === name);
    const members = group ? this.picture.membersOf(group) : [];
    return members.some((node) => this.#isHealthy(node) && this.#standing(node, now) === 'going');
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

  /** Nobody is on his way, and nobody has been for longer than any schedule and any pause last. */
  #isIdle(now: Instant): boolean {
    const { updates, endedAt, calmAt = now } = this.picture;
    const last = Math.max(calmAt, ...endedAt.values());
    return updates.size === 0 && now - last > settledMs(this.#terms) + (this.#terms.hasWindows ? 3 : 1.5) * HOUR;
  }
}

const isOut = ({ facts }: SeenNode): boolean => facts.managed && !facts.ready;

const isSaidUpToDate = (verdict: Verdict | undefined): boolean =>
  verdict?.reason === 'UpToDate' && verdict.status === 'True';

/** Verdicts of nodes for which somebody has to come. */
const PERSON: ReadonlySet<string> = new Set([
  'NotReturned',
  'SoakFailed',
  'ProgressDeadlineExceeded',
  'NodeNotReady',
  'AgentSilent',
  'AgentMissing',
  'ShadowNotOwned',
]);
