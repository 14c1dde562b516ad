import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import type { Faults } from './faults.ts';
import type { PartitionSets } from './partition-sets.ts';

/** What the parts of a host have in common. */
export interface HostParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults;
  readonly sets: PartitionSets;
  readonly times: HostTimes;
  readonly intervals: HostInterval[];
  readonly variant: string;
  readonly arch: string;
}

/** How long a host's own work takes, milliseconds. */
export interface HostTimes {
  /** Each action that writes no image takes as long: it is the repository that is waited for. */
  readonly refreshMs: number;
  readonly prepareMs: number;
  /** From the request to reboot to the host being up again, one attempt to boot included. */
  readonly rebootMs: number;
  /** The part of `rebootMs` before the host is down. */
  readonly shutdownMs: number;
  /** Times of actions differ by up to this fraction in either direction. */
  readonly spread: number;
}

export const DEFAULT_TIMES: HostTimes = {
  refreshMs: 3000,
  prepareMs: 30_000,
  rebootMs: 45_000,
  shutdownMs: 5000,
  spread: 0,
};

/** A stretch of a host's own work, in milliseconds since the Unix epoch: what no updater can make shorter. */
export interface HostInterval {
  readonly action: 'refresh' | 'prepare' | 'activate' | 'deactivate' | 'reboot';
  readonly startMs: number;
  readonly endMs: number;
}
