import type { Basics } from '../../lib/basics.ts';
import { retry, Streak } from '../../lib/retry.ts';
import {
  HostActionFailedError,
  HostActionLostError,
  HostBusyError,
  HostError,
  HostHungError,
  HostProtocolError,
  HostUnreachableError,
  isDeadMount,
} from '../hosts/errors.ts';
import type { HostUpdater } from '../hosts/port.ts';

interface HostWorkOptions extends Basics {
  readonly host: HostUpdater;
}

interface WorkLimits {
  /** How long the host may fail at it, milliseconds from the beginning of the work. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

/** Pauses between retries are long: a failed download costs the update repository as much as a good one. */
const PAUSES = { firstMs: 5000, maxMs: 60_000 };

/** No work of a host takes as long. Without this limit a host that hangs would keep its place in the rollout for ever. */
const HUNG_MS = 2 * 3600_000;

/** Runs a step's work on the host, and repeats it while the host fails. */
export class HostWork {
  readonly #options: HostWorkOptions;
  /** Whether the host is too busy for any work. */
  readonly #busy: Streak;
  /** By when the host is down that has been asked to reboot, by the monotonic clock. */
  #downBy = -Infinity;
  #owesDeactivation = false;

  constructor(options: HostWorkOptions) {
    this.#options = options;
    this.#busy = new Streak(options.clock);
  }

  /** The step is over, so the time for which the host was busy no longer counts. */
  stepEnded(): void {
    this.#busy.note(false);
  }

  /**
   * Repeats `work` until it succeeds, after growing pauses.
   * @throws HostBusyError: the step has to start again, because whoever kept the host busy may have changed what the step has read
   * @throws HostHungError when the host has been busy for two hours; other errors of `work` when time alone does not help
   */
  async retrying<T>({ withinMs, signal }: WorkLimits, work: () => Promise<T>): Promise<T> {
    const { clock, logger } = this.#options;
    const deadline = clock.monotonic() + withinMs;
    const onRetry = (error: unknown, failures: number): void =>
      logger.info('the host has failed, and is asked again', { error, failures });
    return retry(() => this.#once(work), { ...this.#options, ...PAUSES, signal, isTransient, deadline, onRetry });
  }

  /**
   * Asks the host for a reboot. Nothing takes that back, so whatever is wanted meanwhile waits until the host is down, or has not gone down.
   * @throws HostError when the host has refused it
   */
  async reboot(signal: AbortSignal): Promise<void> {
    const { host, clock } = this.#options;
    const downBy = clock.monotonic() + host.traits.limits.goingDownMs;
    try {
      await host.reboot(signal);
    } catch (error) {
      // The answer is not known, and the host may have been asked.
      if (signal.aborted) this.#downBy = downBy;
      throw error;
    }
    this.#downBy = downBy;
  }

  /** Resolves when a host that has been asked for a reboot has not gone down in its time; at once where none was. */
  async untilDown(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const ms = this.#downBy - clock.monotonic();
    if (ms > 0) await clock.sleep(ms, signal);
  }

  /** Whether an update that was given up may still be booted by chance. */
  get owesDeactivation(): boolean {
    return this.#owesDeactivation;
  }

  /**
   * An update that was given up must not be booted by chance. Where the host cannot deactivate it, the node still goes back into service, and
   * the host is asked again with each look for updates.
   * @returns why it could not
   */
  async tryToDeactivate(signal: AbortSignal): Promise<HostError | undefined> {
    const { host, logger } = this.#options;
    this.#owesDeactivation = true;
    try {
      await host.deactivate(signal);
      this.#owesDeactivation = false;
      return undefined;
    } catch (error) {
      if (!(error instanceof HostError) || isDeadMount(error)) throw error;
      logger.warn('the host could not be deactivated', { error });
      return error;
    }
  }

  async #once<T>(work: () => Promise<T>): Promise<T> {
    try {
      const done = await work();
      this.#busy.note(false);
      return done;
    } catch (error) {
      if (this.#busy.note(error instanceof HostBusyError) < HUNG_MS) throw error;
      throw new HostHungError(`busy for ${HUNG_MS / 3600_000} hours: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** A dead mount does not pass: only a new container cures it. What the state of the host forbids does not pass either. */
function isTransient(error: unknown): boolean {
  if (error instanceof HostUnreachableError) return !isDeadMount(error);
  return (
    error instanceof HostActionFailedError || error instanceof HostActionLostError || error instanceof HostProtocolError
  );
}
