import type { Collection } from '../kube/collection.ts';
import { ConflictError } from '../kube/errors.ts';
import { isAsNewAs, type UpdatePolicyObject } from '../kube/objects.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import { WorkQueue } from '../lib/work-queue.ts';
import type { PolicyStatus } from '../policy/model.ts';
import type { PolicyReport } from './plan/report.ts';
import type { PolicyResource, Snapshot } from './plan/snapshot.ts';
import { saysSame, statusOf } from './policy-status.ts';

/** The status of one policy is written once in this time at most: its counts change with each node, and people can wait. */
const PACE_MS = 5000;
/** Most writes under way at once. While that many hang, other policies wait. */
const AT_ONCE = 4;
/** After a write that was refused, not answered, or did not change what it should. */
const PAUSE = { firstMs: PACE_MS, maxMs: 300_000 };

interface PolicyStatusWriterOptions {
  readonly policies: Pick<Collection<UpdatePolicyObject>, 'patchStatus'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A status that the cluster does not show yet. */
interface Due {
  readonly uid: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly status: PolicyStatus;
}

/** What became of the last write to a policy. Times are monotonic. */
interface Last {
  /** No other write before. */
  readonly restedAt: number;
  /** In a row. */
  readonly failures: number;
  /** The resourceVersion that the last successful write made. A view of the policy from before that is not acted on. */
  readonly resourceVersion?: string;
}

/** Writes the status of policies, in the background and at its own pace. Each plan replaces what was not written yet. */
export class PolicyStatusWriter {
  readonly #options: PolicyStatusWriterOptions;
  readonly #queue: WorkQueue<Due>;
  /** By UID. */
  #last = new Map<string, Last>();

  constructor(options: PolicyStatusWriterOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      keyOf: ({ uid }) => uid,
      work: (due, signal) => this.#write(due, signal),
      atOnce: AT_ONCE,
      restMs: ({ uid }) => this.#restMsOf(uid),
    });
  }

  /** @param reports of the policies of the snapshot; `now` in milliseconds since the Unix epoch */
  replace(reports: readonly PolicyReport[], { policies }: Pick<Snapshot, 'policies'>, now: number): void {
    const resources = new Map(
      policies.flatMap(({ resource }) => (resource ? [[resource.uid, resource] as const] : [])),
    );
    for (const uid of this.#last.keys()) if (!resources.has(uid)) this.#last.delete(uid);
    this.#queue.replace(reports.flatMap((report) => this.#dueOf(report, resources.get(report.uid), now) ?? []));
  }

  #dueOf(report: PolicyReport, resource: PolicyResource | undefined, now: number): Due | undefined {
    if (!resource) return undefined;
    const { name, uid } = report;
    const { resourceVersion } = resource;
    const written = this.#last.get(uid)?.resourceVersion;
    if (written !== undefined && !isAsNewAs(resourceVersion, written)) return undefined;
    const status = statusOf(report, resource.status, now);
    return saysSame(resource.status, status) ? undefined : { uid, name, resourceVersion, status };
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#queue.replace([]);
    this.#last.clear();
    await this.#queue.run(signal);
  }

  #restMsOf(uid: string): number {
    // Whole milliseconds: a fraction is too small to be added to the wall clock, and would be waited for again and again.
    return Math.ceil((this.#last.get(uid)?.restedAt ?? -Infinity) - this.#options.clock.monotonic());
  }

  async #write({ uid, name, resourceVersion, status }: Due, signal: AbortSignal): Promise<void> {
    const { policies, clock, logger } = this.#options;
    const last = this.#last.get(uid);
    try {
      const { metadata } = await policies.patchStatus(name, { metadata: { resourceVersion }, status }, signal);
      if (metadata.resourceVersion === resourceVersion) throw new Error('the served CRD drops what was written');
      this.#last.set(uid, {
        restedAt: clock.monotonic() + PACE_MS,
        failures: 0,
        resourceVersion: metadata.resourceVersion,
      });
    } catch (error) {
      if (signal.aborted) return;
      const isOutdated = error instanceof ConflictError;
      this.#last.set(uid, this.#failed(last, isOutdated));
      // After a conflict the next plan is made on the newer version.
      if (!isOutdated) logger.warn('status of a policy not written', { policy: name, error });
    }
  }

  #failed(last: Last | undefined, isOutdated: boolean): Last {
    const { clock, random } = this.#options;
    const { failures = 0 } = last ?? {};
    const pauseMs = isOutdated ? PACE_MS : backoff(failures, { ...PAUSE, random });
    return { ...last, restedAt: clock.monotonic() + pauseMs, failures: isOutdated ? failures : failures + 1 };
  }
}
