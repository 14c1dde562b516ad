import type { Collection } from '../../kube/collection.ts';
import { ApiStatusError } from '../../kube/errors.ts';
import type { Lease } from '../../kube/objects.ts';
import { leasesOf } from '../../kube/resources.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { withDeadline } from '../../lib/abort.ts';
import { type Clock, instantOf } from '../../lib/clock.ts';
import type { Wakeup } from '../../lib/wakeup.ts';
import { CONTROL_PLANE_LEASES } from '../../api/shadow/names.ts';
import type { PermitLedger } from '../permits/ledger.ts';

/** A component renews its Lease each two seconds, and another takes its place after 15. */
const AWAY_MS = 60_000;
/** How often it is read while an update is under way, or they are away. */
const EACH_MS = 15_000;
const READ_MS = 5000;

interface ControlPlaneOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly permitLedger: Pick<PermitLedger, 'permits'>;
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/** What was read of a Lease last, and since when it is so: monotonic. */
interface Seen {
  readonly record: string;
  readonly since: number;
  readonly isAway: boolean;
}

/**
 * Whether kube-controller-manager and kube-scheduler are at work, which replace evicted pods. Their leaders' Leases tell, read as candidates read
 * them: by how long this process has seen the same renewal. At first sight the stated time counts; where that clock is behind, the next read
 * shows a renewal. A Lease that does not exist, or may not be read, says nothing.
 */
export class ControlPlane {
  readonly #options: ControlPlaneOptions;
  readonly #leases: Pick<Collection<Lease>, 'get'>;
  readonly #seen = new Map<string, Seen>();

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
    this.#leases = leasesOf(options.transport, 'kube-system');
  }

  /** Which of them were away at the last read, as a sentence that changes only with them; undefined where none was. */
  get away(): string | undefined {
    const away = CONTROL_PLANE_LEASES.filter((name) => this.#seen.get(name)?.isAway === true);
    if (away.length === 0) return undefined;
    return `evicted pods find no successors: for a minute nobody has renewed the Lease kube-system/${away.join(' and ')}`;
  }

  /** Reads them now. What is not answered stays as it was. */
  async read(signal: AbortSignal): Promise<void> {
    const { away } = this;
    await Promise.all(CONTROL_PLANE_LEASES.map((name) => this.#read(name, signal)));
    if (this.away !== away) this.#options.wakeup.ring();
  }

  /** Reads them now and then while that matters, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, permitLedger } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(EACH_MS, signal).catch(() => undefined);
      const matters = this.away !== undefined || permitLedger.permits.length > 0;
      if (matters && !signal.aborted)
        await withDeadline({ clock, ms: READ_MS, signal }, (inner) => this.read(inner)).catch(() => undefined);
    }
  }

  async #read(name: string, signal: AbortSignal): Promise<void> {
    try {
      const lease = await this.#leases.get(name, signal);
      if (lease) this.#note(name, lease);
      else this.#seen.delete(name);
    } catch (error) {
      if (error instanceof ApiStatusError) this.#seen.delete(name);
    }
  }

  #note(name: string, { spec }: Lease): void {
    const { clock } = this.#options;
    const record = `${spec?.holderIdentity ?? ''} ${spec?.renewTime ?? ''}`;
    const now = clock.monotonic();
    const last = this.#seen.get(name);
    const statedMs = last ? 0 : Math.max(0, clock.now() - (instantOf(spec?.renewTime) ?? clock.now()));
    const since = last?.record === record ? last.since : now - statedMs;
    this.#seen.set(name, { record, since, isAway: now - since >= AWAY_MS });
  }
}
