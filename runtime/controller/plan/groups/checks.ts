import type { Check } from '../../../api/policy/checks.ts';
import { type CheckState, MAX_CHECKS } from '../../../api/release/model.ts';
import { enter, type Ledger, removeWhere, under } from '../../../api/release/ledger.ts';
import {
  advanced,
  arePast,
  attemptOf,
  begun,
  changesAt,
  type CheckAnswer,
  type CheckStates,
  type CheckTry,
  endsAt,
  entryKey,
  isCheckEntry,
  leftUntil,
  mayBegin,
  nodeKey,
  nodesNamedIn,
  openCheck,
  partsOf,
  type When,
} from '../facts/checks.ts';
import type { OsReleaseName } from '../facts/ledgers.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import type { Stop } from '../facts/verdict.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { EnteredLedgers } from '../releases/entered.ts';
import type { OsRelease } from '../releases/os-release.ts';
import type { Group, Groups } from './groups.ts';
import { wayBack } from './way-back.ts';

/** The checks of all policies, as this plan leaves them. */
export interface Checks {
  /** What the ledger of a release says of them under a policy. */
  readonly noted: (ledger: Ledger, group: Group, release: OsReleaseName) => Ledger;
  /** Those that are to be asked. A try is in the ledger first, so that another leader makes no second one. */
  readonly tries: readonly CheckTry[];
  readonly changesAt: number;
}

interface Known {
  readonly groups: Groups;
  readonly entered: Pick<EnteredLedgers, 'of'>;
  readonly answers: ReadonlyMap<string, CheckAnswer> | undefined;
  /** By UID of the node: whose update waits for its checks. */
  readonly stops: ReadonlyMap<string, Stop>;
  readonly now: number;
}

/** One that is asked, or was. */
interface Asked {
  readonly key: string;
  readonly check: Check;
  readonly attempt: string;
  /** Name of the node; undefined for a check of the release itself, which is about all that are to prove it. */
  readonly node: string | undefined;
}

interface Standing {
  readonly asked: Asked;
  readonly state: CheckState;
  /** As it stands in the ledger; undefined where that has no such try yet. */
  readonly written?: CheckState;
}

/** Begins what is to be asked, and takes the answers to what was. */
export function checksOf(known: Known): Checks {
  const states = new Map<OsRelease, CheckStates>();
  const tries: CheckTry[] = [];
  let next = NEVER;
  for (const group of known.groups.all.filter(hasChecks)) {
    for (const release of group.releases.all) {
      const round = new Round(group, release, known);
      states.set(release, round.states);
      tries.push(...round.tries);
      next = Math.min(next, round.changesAt);
    }
  }
  const noted: Checks['noted'] = (ledger, group, { family, version }) => {
    const release = group.releases.of(family, version);
    const asked = states.get(release);
    return asked ? notedIn(ledger, group, asked) : ledger;
  };
  return { noted, tries, changesAt: next };
}

const hasChecks = ({ rules: { checks }, releases }: Group): boolean =>
  checks.proof.length + checks.before.length + checks.after.length > 0 ||
  releases.all.some((release) => Object.keys(release.book.checks).length > 0);

/** The checks of one release under one policy. */
class Round {
  readonly states: CheckStates;
  readonly tries: readonly CheckTry[];
  readonly changesAt: number;
  readonly #group: Group;
  readonly #release: OsRelease;
  readonly #known: Known;

  constructor(group: Group, release: OsRelease, known: Known) {
    this.#group = group;
    this.#release = release;
    this.#known = known;
    const { now, answers } = known;
    const all = new Map<string, Standing>();
    for (const { asked, state } of this.#kept()) {
      const answer = answers?.get(this.#idOf(asked.key, state));
      all.set(asked.key, { asked, state: advanced(state, asked.check, { answer, now }), written: state });
    }
    for (const asked of [...this.#ofProof(), ...this.#ofNodes()])
      if (!all.has(asked.key) && all.size < MAX_CHECKS) all.set(asked.key, { asked, state: begun(asked, now) });
    const standings = [...all.values()];
    this.states = Object.fromEntries(standings.map(({ asked, state }) => [asked.key, state]));
    this.tries = standings.flatMap((one) => this.#tryOf(one));
    const times = standings.map(({ asked, state }) => changesAt(state, asked.check, now));
    this.changesAt = nextAfter(now, times);
  }

  /** What the ledger has, less what nothing depends on any more. */
  #kept(): readonly Standing[] {
    const before = Object.entries(this.#release.book.checks);
    if (before.length === 0) return [];
    const known = new Map(this.#askable().map((asked) => [asked.key, asked]));
    return before.flatMap(([key, state]) => {
      const asked = known.get(key);
      return asked?.check.says === state.says && this.#isOf(asked, state) ? [{ asked, state }] : [];
    });
  }

  /** Whether the state still counts: a failure does for longer than its attempt. */
  #isOf({ key, check, attempt }: Asked, state: CheckState): boolean {
    const isFailed = state.result === 'Failed';
    const { failures, cleared } = this.#known.entered.of(this.#release);
    const { uid, when } = partsOf(key);
    if (when === undefined) {
      if (isFailed) return cleared[entryKey(this.#group.rules.name ?? '', check)]?.attempt !== attemptOf(state);
      return state.attempt === attempt;
    }
    const { now } = this.#known;
    const checks = this.#group.rules.checks[when];
    if (state.attempt === attempt) return !arePast(this.#release.book.checks, { uid, when, checks, attempt, now });
    if (when === 'before') return leftUntil(state) > now;
    return isFailed && failures[uid]?.attempt === state.attempt;
  }

  /** What the policy could ask about whom the ledger names. */
  #askable(): readonly Asked[] {
    const { checks } = this.#group.rules;
    const named = nodesNamedIn(this.#release.book.checks, this.#group.members);
    const ofNodes = [...named.values()].flatMap((info) =>
      (['before', 'after'] as const).flatMap((when) => checks[when].map((check) => this.#of(info, when, check))),
    );
    return [...checks.proof.map((check) => this.#ofRelease(check)), ...ofNodes];
  }

  #ofProof(): readonly Asked[] {
    const isDue = this.#release.proof.awaitsChecks && this.#isRolledOut();
    return isDue ? this.#group.rules.checks.proof.map((check) => this.#ofRelease(check)) : [];
  }

  /** Nobody asks about what the nodes ran from the beginning, or go back to, unless others wait for it. */
  #isRolledOut(): boolean {
    return this.#release.isReached || this.#known.groups.all.some((group) => this.#isAwaitedBy(group));
  }

  #isAwaitedBy(group: Group): boolean {
    const { family, version } = this.#release;
    if (!group.releases.of(family, version).wanted) return false;
    return group.members.some((info) => {
      const { current_version: current, target_version: target } = info.shadow?.status ?? {};
      const waits = info.node.family === family && target === version && current !== version;
      return waits && wayBack(info, group) !== version;
    });
  }

  #ofRelease(check: Check): Asked {
    const attempt = this.#group.view.resource?.uid ?? '';
    return { key: check.name, check, attempt, node: undefined };
  }

  /** Of each node the first that has not passed. */
  #ofNodes(): readonly Asked[] {
    const { checks } = this.#group.rules;
    if (checks.before.length + checks.after.length === 0) return [];
    const { family, version } = this.#release;
    return this.#group.members.flatMap((info) => {
      const isItsOwn = info.node.family === family && info.shadow?.spec.version === version;
      const when = isItsOwn ? this.#dueOf(info) : undefined;
      if (!when) return [];
      const list = { uid: info.node.uid, when, checks: checks[when], attempt: attemptOn(info), now: this.#known.now };
      const open = openCheck(this.#release.book.checks, list);
      return open && open.state?.result === undefined ? this.#of(info, when, open.check) : [];
    });
  }

  #dueOf({ node, health }: AssessedNode): When | undefined {
    if (health.checks === 'waiting') return 'after';
    return this.#known.stops.get(node.uid)?.because.reason === 'Checking' ? 'before' : undefined;
  }

  #of(info: AssessedNode, when: When, check: Check): Asked {
    return { key: nodeKey(info.node.uid, when, check), check, attempt: attemptOn(info), node: info.node.name };
  }

  /** One that has its answer is wanted until the ledger has that, too: what is wanted no more is forgotten, and would be asked again. */
  #tryOf({ asked: { key, check, node }, written }: Standing): readonly CheckTry[] {
    const { name: policy = '' } = this.#group.rules;
    const { family, version } = this.#release;
    if (!written || written.result || !mayBegin(written, this.#known.now)) return [];
    const nodes = node === undefined ? this.#release.canaries.toSorted() : [node];
    const about = { family, version, policy, nodes };
    return [{ id: this.#idOf(key, written), check, about, endsAt: endsAt(written, check) }];
  }

  #idOf(key: string, { attempt, since, tries }: CheckState): string {
    const { name = '' } = this.#group.rules;
    const { family, version } = this.#release;
    return [name, family, version, key, attempt, since, tries].join(' ');
  }
}

const attemptOn = ({ permit }: AssessedNode): string => permit?.id ?? 'none';

/** With the states, and an entry for each check of the release that has failed. */
function notedIn(ledger: Ledger, { rules }: Group, states: CheckStates): Ledger {
  const { name = '' } = rules;
  const failed = rules.checks.proof.flatMap((check) => {
    const { [check.name]: state } = states;
    return state?.result === 'Failed' ? [[entryKey(name, check), check.name, state] as const] : [];
  });
  const keys = new Set(failed.map(([key]) => key));
  const kept = removeWhere(ledger, (key, { policy }) => isCheckEntry(key) && policy === name && !keys.has(key));
  const noted = failed.reduce((one, [key, check, state]) => {
    const at = state.at ?? state.since;
    return enter(one, key, {
      node: `check ${check}`,
      policy: name,
      attempt: attemptOf(state),
      reason: 'CheckFailed',
      at,
    });
  }, kept);
  const checks = Object.keys(states).length > 0 ? states : null;
  return checks || noted.policies[name]?.checks != null ? under(noted, name, { checks }) : noted;
}
