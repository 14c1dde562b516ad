import type { Basics } from '../../lib/basics.ts';
import type { Collection } from '../../kube/collection.ts';
import type { UpdatePolicyObject } from '../../api/resources.ts';
import type { PolicyReport } from '../plan/answer/report.ts';
import type { PolicyResource } from '../plan/facts/policies.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';
import { saysSame, statusOf } from '../telling/policy-status.ts';
import { type Write, WriteQueue } from './write-queue.ts';

/** The status of one policy is written once in this time at most: its counts change with each node, and people can wait. */
const REST_MS = 5000;

interface PolicyStatusWriterOptions extends Basics {
  readonly policies: Pick<Collection<UpdatePolicyObject>, 'patchStatus'>;
}

/** Writes the status of policies, in the background and at its own pace. Each plan replaces what was not written yet. */
export class PolicyStatusWriter {
  readonly #policies: PolicyStatusWriterOptions['policies'];
  readonly #queue: WriteQueue;

  constructor({ policies, ...options }: PolicyStatusWriterOptions) {
    this.#policies = policies;
    this.#queue = new WriteQueue({ ...options, what: 'the status of its policy', atOnce: 4, restMs: REST_MS });
  }

  /** @param reports of the policies of the snapshot; `now` in milliseconds since the Unix epoch */
  replace(reports: readonly PolicyReport[], { policies }: Pick<Snapshot, 'policies'>, now: number): void {
    const resources = new Map(
      policies.flatMap(({ resource }) => (resource ? [[resource.uid, resource] as const] : [])),
    );
    this.#queue.replace(reports.flatMap((report) => this.#writeOf(report, resources.get(report.uid), now) ?? []));
  }

  #writeOf(report: PolicyReport, resource: PolicyResource | undefined, now: number): Write | undefined {
    if (!resource) return undefined;
    const { resourceVersion } = resource;
    const status = statusOf(report, resource.status, now);
    if (saysSame(resource.status, status)) return undefined;
    const write: Write['write'] = async (signal) => {
      const patch = { metadata: { resourceVersion }, status };
      return (await this.#policies.patchStatus(report.name, patch, signal)).metadata.resourceVersion;
    };
    return { key: report.uid, seen: resourceVersion, write };
  }

  /** For one term as leader. */
  run(signal: AbortSignal): Promise<void> {
    return this.#queue.run(signal);
  }
}
