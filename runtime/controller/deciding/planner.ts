import type { LeaderElection } from '../../kube/leader-election.ts';
import { type Clock, type Moment, momentOf } from '../../lib/clock.ts';
import type { Caches, ClusterView } from '../seeing/caches.ts';
import type { ConditionWriter } from '../writing/condition-writer.ts';
import { type ControllerConfig, settingsOf } from '../config.ts';
import type { ControlPlane } from '../seeing/control-plane.ts';
import type { Freshness } from '../seeing/freshness.ts';
import { keepersOf, type Memory, type Plan, plan } from '../plan/plan.ts';
import { Rulings } from '../plan/facts/rulings.ts';
import type { Settings, Snapshot } from '../plan/facts/snapshot.ts';
import type { Finding } from '../plan/facts/verdict.ts';
import type { OtherOperators } from '../seeing/other-operators.ts';
import type { Policies } from '../seeing/policies.ts';
import type { LedgerWriter } from '../writing/ledger-writer.ts';
import { LedgerTimes } from '../seeing/ledger-times.ts';
import type { ReleaseCache } from '../seeing/releases.ts';
import type { CommandLimiters } from '../writing/write-limiter.ts';
import { Rulers } from '../seeing/rulers.ts';
import { Wellness } from '../seeing/wellness.ts';
import type { CheckRunner } from '../checks/runner.ts';
import type { RepositoryReader } from '../repositories/reader.ts';
import { permitsOn } from '../permits/entries.ts';
import type { PermitLedger } from '../permits/ledger.ts';

interface PlannerOptions {
  readonly config: ControllerConfig;
  readonly clock: Clock;
  readonly caches: Pick<Caches, 'look'>;
  readonly policies: Pick<Policies, 'view'>;
  readonly releases: Pick<ReleaseCache, 'items'>;
  readonly ledgers: Pick<LedgerWriter, 'refused'>;
  readonly freshness: Pick<Freshness, 'lost'>;
  readonly repositories: Pick<RepositoryReader, 'published' | 'states'> | undefined;
  readonly checks: Pick<CheckRunner, 'answers'>;
  readonly permitLedger: Pick<PermitLedger, 'permits' | 'seeds' | 'lost'>;
  readonly election: Pick<LeaderElection, 'leading' | 'lease'>;
  readonly controlPlane: Pick<ControlPlane, 'away'>;
  readonly otherOperators: Pick<OtherOperators, 'found'>;
  readonly limiters: Pick<CommandLimiters, 'refusals'>;
  readonly conditions: Pick<ConditionWriter, 'capacity'>;
}

/** A plan, what it was made of, and who would carry it out. */
export interface Preview extends Plan {
  readonly snapshot: Snapshot;
  /** Everything that keeps a node from its update, by its name. It takes half a plan: ask once for all nodes. */
  readonly keepers: () => (node: string) => readonly Finding[];
  readonly settings: Pick<Settings, 'arrivingTaint'>;
  /** When it was made, milliseconds since the Unix epoch. */
  readonly now: number;
  readonly leading: boolean;
  /** The leader's identity, by the Lease; undefined while there is none. */
  readonly leader: string | undefined;
  /** How it stands with repositories. */
  readonly repositories: RepositoryReader['states'];
}

/** Plans on what this process knows. It writes nothing. */
export class Planner {
  readonly #options: PlannerOptions;
  readonly #rulers = new Rulers();
  readonly #ledgerTimes = new LedgerTimes();
  readonly #wellness = new Wellness();
  readonly #memory: Memory = {};
  readonly #settings: Omit<Settings, 'conditionWrites'>;

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.#settings = settingsOf(options.config);
  }

  /** What would be done now, and the verdict on each node. A process that does not lead takes the permits from the Lease. */
  preview(): Preview {
    const { clock, policies, releases, election } = this.#options;
    const moment = momentOf(clock);
    const { now } = moment;
    const { leading, lease } = election;
    const seen = { ...this.look(moment), policies: policies.view(now) };
    const planned = this.planOn(seen, [...releases.items().values()], moment);
    const keepers = () => keepersOf(planned.snapshot, this.#settingsNow(), { now, memory: this.#memory });
    const repositories = this.#options.repositories?.states ?? [];
    const settings = this.#settings;
    return {
      ...planned,
      settings,
      keepers,
      now,
      leading,
      leader: lease?.spec?.holderIdentity || undefined,
      repositories,
    };
  }

  /** The cluster as the caches show it. */
  look(moment: Moment): ClusterView {
    const { caches, permitLedger, election } = this.#options;
    return caches.look(moment, election.leading ? permitLedger.permits : permitsOn(election.lease));
  }

  /** A plan on the cluster as it was seen, and on the releases that were. */
  planOn(
    seen: ClusterView & Pick<Snapshot, 'policies'>,
    objects: Snapshot['releases']['objects'],
    moment: Moment,
  ): Plan & Pick<Preview, 'snapshot'> {
    const { freshness, limiters, ledgers, permitLedger, election } = this.#options;
    const published = election.leading ? this.#options.repositories?.published : undefined;
    const seeds = election.leading && permitLedger.seeds;
    const known = this.#ledgerTimes.see(objects, moment);
    const releases = { objects: known, refused: ledgers.refused, seeds, ...(published && { published }) };
    if (!election.leading) this.#rulers.forget();
    // The plan then goes by the same claims: each node is put to the selectors once.
    this.#memory.rulings = new Rulings(seen, this.#memory.rulings);
    const ruled = { ...seen, claims: this.#memory.rulings.claims };
    const snapshot = {
      ...seen,
      nodes: this.#wellness.see(ruled, moment),
      ruledSince: this.#rulers.see(ruled, moment),
      releases,
      otherOperators: this.#options.otherOperators.found,
      checks: this.#options.checks.answers,
      controlPlaneAway: this.#options.controlPlane.away,
      notCurrent: freshness.lost ?? (election.leading ? permitLedger.lost : undefined),
      refusals: limiters.refusals(moment),
    };
    const at = { now: moment.now, memory: this.#memory };
    return { ...plan(snapshot, this.#settingsNow(), at), snapshot };
  }

  #settingsNow(): Settings {
    return { ...this.#settings, conditionWrites: this.#options.conditions.capacity };
  }
}
