import type { Collection } from '../kube/collection.ts';
import { ConflictError } from '../kube/errors.ts';
import { isAsNewAs, type UpdatePolicyObject } from '../kube/objects.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { WorkQueue } from '../lib/work-queue.ts';
import type { PolicyStatus } from '../policy/model.ts';
import type { PolicyReport } from './plan/report.ts';
import type { PolicyResource, Snapshot } from './plan/snapshot.ts';
import { saysSame, statusOf } from './policy-status.ts';

/** The status of one policy is written once in this time at most: its counts change with each node, and people can wait. */
const PACE = { firstMs: 5000, maxMs: 5000 };
/** Most writes under way at once. While that many hang, other policies wait. */
const AT_ONCE = 4;
/** After a write that was refused, not answered, or did not change what it should. */
const PAUSE = { firstMs: 5000, maxMs: 300_000 };

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

/** Writes the status of policies, in the background and at its own pace. Each plan replaces what was not written yet. */
export class PolicyStatusWriter {
  readonly #options: PolicyStatusWriterOptions;
  readonly #queue: WorkQueue<Due>;
  /** By UID, the resourceVersion that the last write made. A view of the policy from before that is not acted on. */
  readonly #written = new Map<string, string>();

  constructor(options: PolicyStatusWriterOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock,
      random: options.random,
      keyOf: ({ uid }) => uid,
      work: (due, signal) => this.#write(due, signal),
      atOnce: AT_ONCE,
    });
  }

  /** @param reports of the policies of the snapshot; `now` in milliseconds since the Unix epoch */
  replace(reports: readonly PolicyReport[], { policies }: Pick<Snapshot, 'policies'>, now: number): void {
    const resources = new Map(
      policies.flatMap(({ resource }) => (resource ? [[resource.uid, resource] as const] : [])),
    );
    for (const uid of this.#written.keys()) if (!resources.has(uid)) this.#written.delete(uid);
    this.#queue.replace(reports.flatMap((report) => this.#dueOf(report, resources.get(report.uid), now) ?? []));
  }

  #dueOf(report: PolicyReport, resource: PolicyResource | undefined, now: number): Due | undefined {
    if (!resource) return undefined;
    const { name, uid } = report;
    const { resourceVersion } = resource;
    const written = this.#written.get(uid);
    if (written !== undefined && !isAsNewAs(resourceVersion, written)) return undefined;
    const status = statusOf(report, resource.status, now);
    return saysSame(resource.status, status) ? undefined : { uid, name, resourceVersion, status };
  }

  /** For one term as leader. */
  async run(signal: AbortSignal): Promise<void> {
    this.#written.clear();
    await this.#queue.run(signal);
  }

  async #write(due: Due, signal: AbortSignal): Promise<void> {
    const { policies, logger } = this.#options;
    const { uid, name, resourceVersion, status } = due;
    try {
      const { metadata } = await policies.patchStatus(name, { metadata: { resourceVersion }, status }, signal);
      if (metadata.resourceVersion === resourceVersion) throw new Error('the served CRD drops what was written');
      this.#queue.rest(due, PACE);
      this.#written.set(uid, metadata.resourceVersion);
    } catch (error) {
      if (signal.aborted) return;
      // After a conflict the next plan is made on the newer version.
      if (error instanceof ConflictError) return this.#queue.rest(due, PACE);
      this.#queue.rest(due, PAUSE);
      logger.warn('status of a policy not written', { policy: name, error });
    }
  }
}
