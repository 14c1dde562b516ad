import type { Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/random.ts';
import { type Limits, throughTrouble } from '../asking.ts';
import {
  HostActionFailedError,
  HostProtocolError,
  OfferChangedError,
  OtherImageError,
  UpdateGoneError,
  UpdatesUnsupportedError,
} from '../errors.ts';
import type { HostAction, HostStatus, HostTraits, HostUpdater, Image, OsInfo } from '../port.ts';
import { expectSuccess, OneProgram } from '../one-program.ts';
import { CHROOT_EXIT, type Command, type Ended, type HostPrograms } from '../programs.ts';
import { choiceIn, isNothing, offerIn, osIn, otherSetIn } from './words.ts';

export interface UpdogOptions {
  readonly programs: HostPrograms;
  readonly clock: Clock;
  readonly random: Random;
  /** The text of the host's os-release. @throws HostError */
  readonly readOsRelease: () => Promise<string>;
  /** @see readBootId */
  readonly readBootId: () => Promise<string>;
}

/** Milliseconds. */
const DEADLINES: Readonly<Record<HostAction | 'other', number>> = {
  refresh: 60_000,
  prepare: 20 * 60_000,
  // updog asks its repository before it does anything, this included.
  activate: 120_000,
  deactivate: 60_000,
  other: 60_000,
};

const TRAITS: HostTraits = {
  versions: 'offered',
  // An inhibitor may delay a reboot by 300 seconds.
  limits: { prepareMs: DEADLINES.prepare, activateMs: DEADLINES.activate, goingDownMs: 360_000 },
};

const UPDOG = '/usr/bin/updog';
const SIGNPOST = '/usr/bin/signpost';

/**
 * A host of interface 1.0.0: its tool updog finds, writes and activates updates, and keeps no status. The partition table says whether an
 * image was written and whether it boots next, but not which. So a version counts as staged only in the process that has seen it written, and
 * an agent that was restarted in between writes it again.
 */
export class Updog implements HostUpdater {
  readonly traits = TRAITS;
  readonly #options: UpdogOptions;
  /** What the host offered when it was last asked. */
  #offer: Image | undefined;
  /** What this process has seen written, without a failure since. */
  #written: Image | undefined;
  readonly #program: OneProgram;

  constructor(options: UpdogOptions) {
    this.#options = options;
    this.#program = new OneProgram(options);
  }

  async os(signal?: AbortSignal): Promise<OsInfo> {
    return osIn(await this.#reach(this.#options.readOsRelease, signal), process.arch);
  }

  bootId(): Promise<string> {
    return this.#options.readBootId();
  }

  status(signal?: AbortSignal): Promise<HostStatus> {
    return this.#status(signal);
  }

  async refresh(signal?: AbortSignal): Promise<HostStatus> {
    const limits = this.#limits('refresh', signal);
    this.#offer = undefined;
    this.#offer = await this.#reach(async () => {
      const ended = await this.#program.run([UPDOG, 'check-update', '--json'], limits);
      if (!isNothing(ended.stderr)) expectDone('refresh', ended);
      return offerIn(ended);
    }, signal);
    return this.#status(signal);
  }

  async prepare(version: string, signal?: AbortSignal): Promise<HostStatus> {
    const offer = this.#offer;
    if (offer?.version !== version) throw new OfferChangedError(version, offer?.version);
    this.#written = undefined;
    const ended = await this.#perform('prepare', [UPDOG, 'update-image', '--image', version], signal);
    const chose = choiceIn(ended);
    if (chose === undefined)
      throw new HostProtocolError(`updog update-image: does not say what it wrote: ${ended.stderr}`);
    if (chose !== version) throw new OtherImageError(version, chose);
    this.#written = offer;
    return this.#staged(version, 'Staged', signal);
  }

  async activate(version: string, signal?: AbortSignal): Promise<HostStatus> {
    const before = await this.#staged(version, 'Staged', signal);
    if (before.state === 'Ready') return before;
    const failure = await this.#perform('activate', [UPDOG, 'update-apply'], signal).then(() => undefined, asError);
    signal?.throwIfAborted();
    // The result is on the disk, even if the program failed afterwards.
    return this.#staged(version, 'Ready', signal).catch((gone: unknown) => {
      throw failure ?? gone;
    });
  }

  /** The first versions of updog cannot revert, so the image is no longer one that could be booted: it has to be written again. */
  async deactivate(signal?: AbortSignal): Promise<HostStatus> {
    const before = await this.#status(signal);
    if (before.state !== 'Ready') return before;
    await this.#perform('deactivate', [SIGNPOST, 'clear-inactive'], signal);
    return this.#status(signal);
  }

  async reboot(signal?: AbortSignal): Promise<void> {
    const limits = this.#limits('other', signal);
    await this.#reach(async () => {
      const { exit, stderr } = await this.#program.run(['/usr/sbin/shutdown', '-r', 'now'], limits);
      // A host that goes down may kill it before it ends. A second request does no harm.
      if (exit !== undefined && exit !== 0) throw new HostActionFailedError('reboot', stderr);
    }, signal);
  }

  /** @throws UpdateGoneError where another version is staged or none, or it is not in that state */
  async #staged(version: string, least: 'Staged' | 'Ready', signal: AbortSignal | undefined): Promise<HostStatus> {
    const status = await this.#status(signal);
    const { state, staging } = status;
    if (staging?.image.version === version && (state === 'Ready' || state === least)) return status;
    throw new UpdateGoneError(`${staging?.image.version ?? 'nothing'} is staged (${state}), not ${version}`);
  }

  async #status(signal: AbortSignal | undefined): Promise<HostStatus> {
    const limits = this.#limits('other', signal);
    const set = await this.#reach(async () => {
      const ended = await this.#program.run([SIGNPOST, 'status'], limits);
      if (ended.exit !== 0) throw new HostProtocolError(`signpost status: failed: ${ended.stderr}`);
      return otherSetIn(ended);
    }, signal);
    if (set === 'other') this.#written = undefined;
    const chosen = this.#offer;
    const staging = this.#written && { image: this.#written, nextToBoot: set === 'activated' };
    const atRest = staging ? 'Staged' : chosen ? 'Available' : 'Idle';
    const state = set === 'activated' ? 'Ready' : atRest;
    return { state, chosen, active: undefined, staging, lastCommand: undefined };
  }

  #perform(action: HostAction, command: Command, signal: AbortSignal | undefined): Promise<Ended> {
    const limits = this.#limits(action, signal);
    return this.#reach(async () => {
      const ended = await this.#program.run(command, limits);
      expectDone(action, ended);
      return ended;
    }, signal);
  }

  #reach<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return throughTrouble(request, { ...this.#options, signal });
  }

  #limits(action: HostAction | 'other', signal: AbortSignal | undefined): Limits {
    return { signal, deadline: this.#options.clock.monotonic() + DEADLINES[action] };
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('failed', { cause: reason });
}

/** @throws WriteFailedError, HostActionFailedError, HostActionLostError, UpdatesUnsupportedError */
function expectDone(action: HostAction, ended: Ended): void {
  const { exit, stderr } = ended;
  if (exit === CHROOT_EXIT.notFound) throw new UpdatesUnsupportedError(stderr.trim());
  if (exit === CHROOT_EXIT.notStarted || exit === CHROOT_EXIT.itself) throw new HostActionFailedError(action, stderr);
  expectSuccess(action, ended, typeof choiceIn(ended) === 'string');
}
