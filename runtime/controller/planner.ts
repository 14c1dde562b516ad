import type { LeaderElection } from '../kube/leader-election.ts';
import { type Clock, momentOf } from '../lib/clock.ts';
import type { Caches } from './caches.ts';
import type { ConditionWriter } from './condition-writer.ts';
import { type ControllerConfig, settingsOf } from './config.ts';
import type { Freshness } from './freshness.ts';
import { type Plan, plan } from './plan/plan.ts';
import type { Settings, Snapshot } from './plan/snapshot.ts';
import type { Policies } from './policies.ts';
import type { LedgerWriter } from './releases/ledger-writer.ts';
import type { ReleaseCache } from './releases/releases.ts';
import type { WriteRefusals } from './write-refusals.ts';
import { slotsOn } from './slots/entries.ts';
import type { SlotLedger } from './slots/ledger.ts';

interface PlannerOptions {
  readonly config: ControllerConfig;
  readonly clock: Clock;
  readonly caches: Pick<Caches, 'look'>;
  readonly policies: Pick<Policies, 'view'>;
  readonly releases: Pick<ReleaseCache, 'view'>;
  readonly ledgers: Pick<LedgerWriter, 'refused'>;
  readonly freshness: Pick<Freshness, 'lost'>;
  readonly ledger: Pick<SlotLedger, 'slots' | 'seeds'>;
  readonly election: Pick<LeaderElection, 'leading' | 'lease'>;
  readonly refusals: Pick<WriteRefusals, 'view'>;
  readonly conditions: Pick<ConditionWriter, 'capacity'>;
}

/** A plan, what it was made of, and who would carry it out. */
export interface Preview extends Plan {
  readonly snapshot: Snapshot;
  /** When it was made, milliseconds since the Unix epoch. */
  readonly now: number;
  readonly leading: boolean;
  /** The leader's identity, by the Lease; undefined while there is none. */
  readonly leader: string | undefined;
}

/** Plans on what this process knows. It writes nothing. */
export class Planner {
  readonly #options: PlannerOptions;
  readonly #settings: Omit<Settings, 'conditionWrites'>;

  constructor(options: PlannerOptions) {
    this.#options = options;
    this.#settings = settingsOf(options.config);
  }

  /** What would be done now, and the verdict on each node. A process that does not lead takes the slots from the Lease. */
  preview(): Preview {
    const { clock, caches, policies, releases, ledgers, freshness, ledger, election, refusals, conditions } =
      this.#options;
    const moment = momentOf(clock);
    const { now } = moment;
    const { leading, lease } = election;
    const snapshot: Snapshot = {
      ...caches.look(moment, leading ? ledger.slots : slotsOn(lease)),
      policies: policies.view(now),
      releases: { objects: releases.view(), refused: ledgers.refused, seeds: leading && ledger.seeds },
      notCurrent: freshness.lost,
      refusals: refusals.view(moment),
    };
    const planned = plan(snapshot, { ...this.#settings, conditionWrites: conditions.capacity }, now);
    return { ...planned, snapshot, now, leading, leader: lease?.spec?.holderIdentity || undefined };
  }
}
