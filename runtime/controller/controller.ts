import { type Clock, DAY_MS } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import type { Wakeup } from '../lib/wakeup.ts';
import type { CheckRunner } from './checks/runner.ts';
import type { Caches } from './seeing/caches.ts';
import type { ConditionWriter } from './writing/condition-writer.ts';
import type { Executor } from './writing/executor.ts';
import type { Expectations } from './seeing/expectations.ts';
import type { Freshness } from './seeing/freshness.ts';
import type { ControllerMetrics } from './telling/metrics.ts';
import type { NodeWriter } from './writing/node-writer.ts';
import type { Orders } from './seeing/orders.ts';
import type { Command } from './plan/facts/commands.ts';
import type { ShadowView, Snapshot } from './plan/facts/snapshot.ts';
import type { Planner, Preview } from './deciding/planner.ts';
import type { Policies } from './seeing/policies.ts';
import type { PolicyStatusWriter } from './writing/policy-status-writer.ts';
import type { Reporter } from './telling/reporter.ts';
import type { LedgerWriter } from './writing/ledger-writer.ts';
import type { ReleaseCache } from './seeing/releases.ts';
import { NotLeadingError, type PermitLedger, PermitsLostError, UnreadablePermitsError } from './permits/ledger.ts';
import type { Remaking } from './permits/remaking.ts';

interface ControllerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly caches: Pick<Caches, 'onChange'>;
  readonly policies: Pick<Policies, 'onChange'>;
  readonly freshness: Pick<Freshness, 'onChange' | 'renew'>;
  readonly planner: Pick<Planner, 'preview'>;
  readonly remaking: Pick<Remaking, 'run'>;
  /** Ends the term, so that another begins. */
  readonly resign: () => void;
  readonly permitLedger: Pick<PermitLedger, 'reset' | 'load' | 'reference' | 'isKeeper' | 'keep' | 'lost'>;
  readonly executor: Pick<Executor, 'carryOut' | 'settled'>;
  readonly conditions: Pick<ConditionWriter, 'replace'>;
  readonly statuses: Pick<PolicyStatusWriter, 'replace'>;
  readonly releases: Pick<ReleaseCache, 'onChange'>;
  readonly ledgers: Pick<LedgerWriter, 'replace'>;
  readonly checks: Pick<CheckRunner, 'replace'>;
  readonly nodeWriters: readonly Pick<NodeWriter, 'replace'>[];
  readonly orders?: Pick<Orders, 'observe'> | undefined;
  readonly expectations: Pick<Expectations, 'seen'>;
  readonly reporter: Pick<Reporter, 'report' | 'permitsReadable' | 'permitsUnreadable'>;
  readonly metrics: Pick<ControllerMetrics, 'planned'>;
  /** Rings when there is a reason to plan besides a change of the cluster. */
  readonly wakeup: Wakeup;
}

/** Pause before a new plan where not everything went as planned. A change of the cluster ends it early. */
const RETRY = { firstMs: 100, maxMs: 30_000 };

/** The reconcile loop of a leader: it plans, and has the plan carried out. */
export class Controller {
  readonly #options: ControllerOptions;

  constructor(options: ControllerOptions) {
    this.#options = options;
  }

  /** Works for one term as leader. What was known of permits is forgotten first. */
  async run(signal: AbortSignal): Promise<void> {
    const { caches, policies, releases, freshness, executor, wakeup } = this.#options;
    const stops = [caches, policies, releases, freshness].map((source) => source.onChange(() => wakeup.ring()));
    try {
      await freshness.renew(signal);
      await this.#loop(signal);
    } finally {
      for (const stop of stops) stop();
      await executor.settled();
    }
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, random, permitLedger, wakeup, reporter } = this.#options;
    let loaded = false;
    let failures = 0;
    permitLedger.reset();
    while (!signal.aborted) {
      let next: number | undefined;
      try {
        if (!loaded) await permitLedger.load(signal);
        if (!loaded) reporter.permitsReadable();
        if (!loaded && permitLedger.lost !== undefined) this.#remake(signal);
        loaded = true;
        // The term may have ended meanwhile. Then no command is sent, and people are told nothing.
        if (!signal.aborted) next = await this.#reconcile(signal);
      } catch (error) {
        this.#report(error, signal);
      }
      failures = next === undefined ? failures + 1 : 0;
      const retryAt = clock.now() + backoff(failures - 1, { ...RETRY, random });
      // What ledgers say of each day is written where nothing else happens, too.
      await wakeup.wait(clock, Math.min(next ?? retryAt, clock.now() + DAY_MS), signal);
    }
  }

  /** Beside the plans, for what is disturbed goes on. */
  #remake(signal: AbortSignal): void {
    const { remaking, wakeup } = this.#options;
    remaking.run(signal).then(
      () => wakeup.ring(),
      (error: unknown) => this.#report(error, signal),
    );
  }

  /** Makes a plan and carries it out. @returns when to plan again at the latest; undefined where not everything went as planned */
  async #reconcile(signal: AbortSignal): Promise<number | undefined> {
    const {
      clock,
      permitLedger,
      ledgers,
      checks,
      executor,
      conditions,
      statuses,
      nodeWriters,
      orders,
      expectations,
      reporter,
    } = this.#options;
    const preview = this.#plan();
    const { commands, requeueAt = Infinity, snapshot } = preview;
    expectations.seen(snapshot.shadows);
    conditions.replace(commands.filter((command) => command.kind === 'set-condition'));
    statuses.replace(preview.policies, snapshot, clock.now());
    ledgers.replace(preview.ledger);
    checks.replace(preview.tries);
    if (!permitLedger.isKeeper && isSeeded(preview)) await permitLedger.keep(signal);
    for (const writer of nodeWriters) writer.replace(preview);
    orders?.observe(preview);
    reporter.report({ plan: preview, snapshot, lease: permitLedger.reference });
    const outcome = await executor.carryOut(commands, namedIn(commands, snapshot), signal);
    if (outcome === 'moved') return undefined;
    return outcome === 'changed' ? clock.now() : requeueAt;
  }

  #plan(): Preview {
    const { clock, planner, metrics } = this.#options;
    const began = clock.monotonic();
    const preview = planner.preview();
    metrics.planned(preview, (clock.monotonic() - began) / 1000);
    return preview;
  }

  /** A process that has lost the Lease learns that from the election. */
  #report(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const { logger, reporter, permitLedger } = this.#options;
    if (error instanceof PermitsLostError) this.#options.resign();
    else if (error instanceof NotLeadingError) return logger.info('another process leads');
    if (error instanceof UnreadablePermitsError) reporter.permitsUnreadable(permitLedger.reference, error);
    logger.warn('plan not carried out', { error });
  }
}

/** The ledgers hold all failures that were known before ledgers were kept. */
const isSeeded = ({ snapshot, ledger }: Preview): boolean =>
  !snapshot.releases.seeds || (snapshot.notCurrent === undefined && ledger.length === 0);

/** The shadows that commands name, by name: of a large fleet, a few. */
function namedIn(commands: readonly Command[], { shadows }: Snapshot): ReadonlyMap<string, ShadowView> {
  const names = new Set(commands.flatMap((command) => ('shadow' in command ? command.shadow : [])));
  const named = names.size === 0 ? [] : shadows.filter(({ name }) => names.has(name));
  return new Map(named.map((shadow) => [shadow.name, shadow]));
}
