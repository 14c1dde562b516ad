import { BEGINS_AT, type Instant, type Scenario } from '../types.ts';
import { compareVersions, isController, type ShadowFacts, type Verdict } from './facts.ts';
import type { Picture } from './picture.ts';
import type { SeenNode } from './seen-node.ts';
import { tally } from './releases.ts';
import { NOTHING, type Rule } from './rule.ts';
import { type Terms, termsOf } from './settings.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What an update takes at most where nothing goes wrong: looking for it, the download, the drain's pods and volumes, two boots. */
const UPDATE = 20 * MINUTE;
/** An agent waits so long for a host whose lock is held, and says then that it hangs (docs/operating.md). */
const HANGS = 3 * HOUR + 15 * MINUTE;
/** By how much what a node states may be off, milliseconds. */
const HEARSAY = 25 * MINUTE;
/** The calm lasts no longer, and fleets that would need more are held to their pace. */
const LONGEST = 6 * HOUR;
/** So long after a change verdicts and agents have caught up. */
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
  const rounds = Math.ceil(scenario.nodes / terms.maxConcurrent(scenario.nodes)) + 2;
  const whole = settledMs(terms) + rounds * updateMs(terms);
  return Math.min(Math.max(HOUR, hasWindows(scenario) ? 2 * whole + 2 * HOUR : whole), LONGEST);
}

const hasWindows = ({ settings: { controller } }: Scenario): boolean =>
  controller['SCHEDULER_CRON_EXPRESSION'] !== undefined || controller['UPDATE_WINDOW_START'] !== undefined;

/** How a node stands: it is where it should be; on its way; kept where it is with a right reason; or wrong. */
type Standing = 'done' | 'going' | 'kept' | { readonly wrong: string };

export const liveness: Rule = {
  name: 'liveness',
  begin(picture, scenario) {
    const newest = scenario.releases
      .map(({ version }) => version)
      .reduce((a, b) => (compareVersions(a, b) < 0 ? b : a));
    const sorted = new Sorted(picture, { scenario, newest });
    let known = -1;
    let met = false;
    let now: Instant = 0;
    return {
      see(entry) {
        now = entry.at;
        return NOTHING;
      },
      isMet() {
        if (picture.calmAt === undefined) return false;
        if (picture.version !== known) met = sorted.areSettled(now);
        known = picture.version;
        return met;
      },
      end: (endedAt) => (picture.calmAt === undefined ? NOTHING : sorted.breaches(endedAt)),
    };
  },
};

/** The nodes of a fleet by how they stand. */
class Sorted {
  readonly #picture: Picture;
  readonly #terms: Terms;
  readonly #newest: string;
  readonly #isStrict: boolean;
  readonly #hasWindows: boolean;
  /** Found not to be settled last. Most likely it still is not, and nobody has to look at the others. */
  #awaited: string | undefined;

  constructor(picture: Picture, { scenario, newest }: { readonly scenario: Scenario; readonly newest: string }) {
    this.#picture = picture;
    this.#terms = picture.terms;
    this.#newest = newest;
    this.#isStrict = scenario.settings.controller['WINDOW_FIT'] === 'strict';
    this.#hasWindows = hasWindows(scenario);
  }

  /** Whether each node is where it should be, or kept where it is with a right reason. It is asked after everything that happens. */
  areSettled(now: Instant): boolean {
    if (this.#isDeserted) return true;
    const { nodes } = this.#picture;
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
    if (!this.#isHealthy(node)) return true;
    const standing = this.#standing(node, now);
    return standing === 'done' || standing === 'kept';
  }

  standings(now: Instant): readonly (readonly [string, Standing])[] {
    return [...this.#picture.nodes]
      .filter(([, node]) => this.#isHealthy(node))
      .map(([name, node]) => [name, this.#standing(node, now)] as const);
  }

  breaches(now: Instant): readonly string[] {
    if (this.#isDeserted) return NOTHING;
    const standings = this.standings(now);
    const wrong = standings.flatMap(([name, one]) => (typeof one === 'string' ? [] : [`${name}: ${one.wrong}`]));
    const going = standings.filter(([, one]) => one === 'going').length;
    const isSlow = going > 0 && wrong.length === 0 && this.#finishedLately(now) < this.#promised(now);
    return isSlow ? [`${going} nodes still wait, and the fleet is slower than it may be`] : wrong;
  }

  /** Nobody decides where no controller runs, and each node is cordoned or not Ready, so that none takes its pod. */
  get #isDeserted(): boolean {
    const { nodes, processes } = this.#picture;
    if ([...nodes.values()].some(takesPods)) return false;
    return ![...processes].some(([name, { runs }]) => runs && isController(name));
  }

  /** A machine that is there, with its kubelet, its agent and its label: nothing but the operator's decisions keeps it from its update. */
  #isHealthy({ facts }: SeenNode): boolean {
    const host = this.#picture.hosts.get(facts.name);
    const shadow = this.#picture.shadows.get(`brs-${facts.name}`);
    const isOwned = shadow === undefined || shadow.owners.length > 0;
    const agent = this.#picture.processes.get(`agent-${facts.name}`);
    return facts.managed && facts.ready && !facts.held && host?.up === true && agent?.runs === true && isOwned;
  }

  #standing(node: SeenNode, now: Instant): Standing {
    const { facts } = node;
    const shadow = this.#picture.shadowOf(facts);
    const isYoung = now - this.#changedAt(node) < SAID_WITHIN;
    const unlessYoung = (wrong: string): Standing => (isYoung ? 'going' : { wrong });
    if (!shadow?.status) return unlessYoung('it has an agent, and is not registered');
    const { status, verdict } = shadow;
    if (compareVersions(status.target, this.#newest) < 0)
      return unlessYoung(`it is offered ${this.#newest}, and its agent says ${status.target}`);
    if (shadow.active)
      return this.#isConfined(node) ? 'kept' : this.#underWay(facts.uid, { now, reason: verdict?.reason });
    if (status.current !== status.target) return this.#kept(shadow, { now, family: facts.family, isYoung });
    return isSaidUpToDate(verdict)
      ? 'done'
      : unlessYoung(`it runs ${status.current}, and is said to be ${verdict?.reason}`);
  }

  /** When it last became one of which something can be asked. */
  #changedAt({ facts, readyAt, heldAt, managedAt }: SeenNode): Instant {
    const { calmAt = 0, processes, restedAt } = this.#picture;
    const agentAt = processes.get(`agent-${facts.name}`)?.since ?? 0;
    return Math.max(calmAt, readyAt, heldAt, managedAt, agentAt, restedAt.get(facts.uid) ?? 0);
  }

  /** Its drain waits for budgets, and says so: no other node takes its pods, so they will let none go. */
  #isConfined({ facts }: SeenNode): boolean {
    const { nodes } = this.#picture;
    if (this.#picture.shadowOf(facts)?.verdict?.reason !== 'DrainBlocked') return false;
    return [...nodes.values()].every((other) => other.facts.uid === facts.uid || !takesPods(other));
  }

  #underWay(
    uid: string,
    { now, reason = 'nothing' }: { readonly now: Instant; readonly reason: string | undefined },
  ): Standing {
    const { calmAt = now, updates } = this.#picture;
    const lastsMs = now - Math.max(calmAt, updates.get(uid)?.at ?? 0);
    if (lastsMs < HANGS) return 'going';
    return {
      wrong: `its update has lasted for ${Math.round(lastsMs / MINUTE)} minutes, and it is said to be ${reason}`,
    };
  }

  #kept(
    shadow: ShadowFacts,
    { now, family, isYoung }: { readonly now: Instant; readonly family: string; readonly isYoung: boolean },
  ): Standing {
    if (isYoung) return 'going';
    const reason = shadow.verdict?.reason ?? 'nothing';
    const { current, target } = shadow.status!;
    const standing = RIGHT[reason]?.({ shadow, now, family, sorted: this });
    return standing ?? { wrong: `it runs ${current}, is offered ${target}, and is said to be ${reason}` };
  }

  /** Whether the release is halted for it, by the failures that stand in the cluster. */
  isHalted({ status }: ShadowFacts, family: string): boolean {
    const { failed, members } = tally(this.#picture, family, status?.target ?? '');
    return failed.length >= this.#terms.maxFailed(members);
  }

  /** Whether updates may start now, or a window that fits has never to come. */
  isClosed(now: Instant): boolean {
    return this.#isStrict || !this.#terms.window(now) || !this.#terms.window(now - 2 * MINUTE);
  }

  /** Who takes places, and whether each of them waits for a person and says so. One that has just gone down is most likely rebooting. */
  places(now: Instant): 'free' | 'moving' | 'stuck' | 'silent' {
    const { nodes, updates } = this.#picture;
    const takers = [...nodes.values()].filter(
      ({ facts }) => facts.marks || updates.has(facts.uid) || (facts.managed && !facts.ready),
    );
    if (takers.length === 0) return 'free';
    const confined = takers.filter((node) => this.#isConfined(node));
    if (takers.some((node) => this.#isHealthy(node) && !confined.includes(node))) return 'moving';
    const isSaid = takers.some(({ facts }) => PERSON.has(this.#picture.shadowOf(facts)?.verdict?.reason ?? ''));
    if (isSaid || confined.length > 0) return 'stuck';
    const returnsWithin = this.#terms.returnTimeoutMs + SAID_WITHIN;
    return takers.some((node) => now - this.#changedAt(node) < returnsWithin) ? 'moving' : 'silent';
  }

  #finishedLately(now: Instant): number {
    const from = this.#picture.calmAt ?? now;
    return [...this.#picture.restedAt.values()].filter((at) => at >= from).length;
  }

  /** What the fleet must have done by now: one update after another in each place. Not while some host hangs, or is kept out by a window. */
  #promised(now: Instant): number {
    const { updates, calmAt = now } = this.#picture;
    const isHeldUp = [...updates.values()].some(({ at }) => now - at > 2 * updateMs(this.#terms));
    if (isHeldUp || this.#hasWindows || this.places(now) === 'stuck') return 0;
    const rounds = Math.floor((now - calmAt - settledMs(this.#terms)) / updateMs(this.#terms)) - 2;
    return Math.max(0, rounds) * this.#terms.maxConcurrent(this.#picture.managed());
  }
}

const takesPods = ({ facts }: SeenNode): boolean => facts.ready && !facts.cordoned;

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

interface Asked {
  readonly shadow: ShadowFacts;
  readonly now: Instant;
  readonly family: string;
  readonly sorted: Sorted;
}

/** What may keep a healthy node from its update, and when that is true; undefined where it is not. */
const RIGHT: Readonly<Record<string, (asked: Asked) => Standing | undefined>> = {
  BackingOff: ({ shadow: { status }, now }) => {
    const minutes = Math.min(2 ** (status?.crashes ?? 0), 1440);
    const until = (status?.failedAt ?? NaN) - BEGINS_AT + minutes * MINUTE;
    if (!status?.crashes || !(now < until + HEARSAY)) return undefined;
    return until - now > 30 * MINUTE ? 'kept' : 'going';
  },
  RolloutHalted: ({ shadow, family, sorted }) => (sorted.isHalted(shadow, family) ? 'kept' : undefined),
  OutsideWindow: ({ now, sorted }) => (sorted.isClosed(now) ? 'going' : undefined),
  DrainBlocked: () => 'going',
  WaitingForSlot: ({ now, sorted }) => WAITING[sorted.places(now)],
  Unproven: ({ now, sorted }) => WAITING[sorted.places(now)],
};

const WAITING: Readonly<Record<ReturnType<Sorted['places']>, Standing>> = {
  free: 'going',
  moving: 'going',
  stuck: 'kept',
  silent: { wrong: 'it waits for nodes of which nobody is told' },
};
