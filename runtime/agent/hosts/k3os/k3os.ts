import { releaseOf } from '../../../api/k3os/release.ts';
import { CHANNEL_ANNOTATION, DEFAULT_CHANNEL_URL, LIVE_MODE, VERSION_ANNOTATION } from '../../../api/k3os/names.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Random } from '../../../lib/random.ts';
import { retry } from '../../../lib/retry.ts';
import { throughTrouble } from '../asking.ts';
import {
  HostActionFailedError,
  HostBusyError,
  HostUnreachableError,
  UpdateGoneError,
  UpdatesUnsupportedError,
} from '../errors.ts';
import type { HostStatus, HostTraits, HostUpdater, Image, OsInfo } from '../port.ts';
import { expectSuccess, OneProgram } from '../one-program.ts';
import type { Command, Ended, HostPrograms } from '../programs.ts';
import type { HostFiles } from './files.ts';
import { type BootRecord, K3osSystem, type Links, sameLinks } from './system.ts';

export interface K3osOptions {
  readonly files: HostFiles;
  readonly programs: HostPrograms;
  readonly clock: Clock;
  readonly random: Random;
  /** @see readBootId */
  readonly readBootId: () => Promise<string>;
  /** Makes the host's init reboot the host. @throws HostUnreachableError */
  readonly reboot: () => Promise<void>;
}

/** How long one upgrade may run, retries included, milliseconds. The Job of the operator's preview had the same limit. */
const UPGRADE_MS = 180_000;

/** How long the tool may take to remount the system, milliseconds. Afterwards it asks for a release, which is not needed. */
const REMOUNT_MS = 20_000;

const TRAITS: HostTraits = {
  versions: 'told',
  // Services are given a minute to stop.
  limits: { prepareMs: 60_000, activateMs: UPGRADE_MS, goingDownMs: 180_000 },
};

const K3OS = '/sbin/k3os';

/**
 * A k3OS host. `k3os ops upgrade` downloads a release and activates it in one step. So `prepare` only checks whether the order can be followed,
 * and `activate` does the work after the drain. The tool keeps no status. Links say what boots next. Before the first upgrade changes them, the
 * driver records what has booted, in a file in memory that a reboot clears.
 */
export class K3os implements HostUpdater {
  readonly traits = TRAITS;
  readonly #options: K3osOptions;
  readonly #system: K3osSystem;
  #order: Readonly<Record<string, string>> = {};
  #prepared: string | undefined;
  readonly #program: OneProgram;

  constructor(options: K3osOptions) {
    this.#options = options;
    this.#program = new OneProgram(options);
    this.#system = new K3osSystem(options.files);
  }

  takeOrder(annotations: Readonly<Record<string, string>>): void {
    this.#order = annotations;
  }

  async os(signal?: AbortSignal): Promise<OsInfo> {
    return this.#reach(async () => imageOf(await this.#system.running()), signal);
  }

  bootId(): Promise<string> {
    return this.#options.readBootId();
  }

  status(signal?: AbortSignal): Promise<HostStatus> {
    return this.#reach(async () => statusOf(await this.#look(), this.#prepared), signal);
  }

  refresh(signal?: AbortSignal): Promise<HostStatus> {
    return this.status(signal);
  }

  async prepare(version: string, signal?: AbortSignal): Promise<HostStatus> {
    this.#releaseFor(version);
    const mode = await this.#reach(() => this.#system.mode(), signal);
    if (mode === LIVE_MODE) throw new UpdatesUnsupportedError('a host in live mode has nothing that could be upgraded');
    this.#prepared = version;
    return this.status(signal);
  }

  async activate(version: string, signal?: AbortSignal): Promise<HostStatus> {
    const { tag, url } = this.#releaseFor(version);
    const before = await this.#reach(() => this.#look(), signal);
    if (before.record?.done === tag && before.links.k3os === tag) return statusOf(before, this.#prepared);
    if (this.#prepared !== version)
      throw new UpdateGoneError(`${version} is not known to be wanted, or is half installed`);
    await this.#remember(before, undefined, signal);
    const ended = await this.#upgrade({ tag, url }, signal);
    const after = await this.#reach(() => this.#look(), signal);
    // The tool replaces a link only once it has downloaded what that is to point to.
    expectSuccess('activate', ended, isChanged(after));
    if (after.links.k3os !== tag)
      throw new HostActionFailedError('activate', `it ended well, and ${after.links.k3os ?? 'nothing'} boots next`, 0);
    await this.#remember(after, tag, signal);
    return statusOf(after, this.#prepared);
  }

  async deactivate(signal?: AbortSignal): Promise<HostStatus> {
    // An upgrade that still runs would undo this.
    await this.#program.idle({ deadline: this.#options.clock.monotonic() + UPGRADE_MS, signal });
    const before = await this.#reach(() => this.#look(), signal);
    if (!isChanged(before)) return statusOf(before, this.#prepared);
    const { record } = before;
    if (!record) throw new HostActionFailedError('deactivate', 'nobody has seen what it booted');
    return this.#reach(async () => {
      await this.#restore(record.booted, before.running, signal);
      await this.#system.remember({ booted: record.booted });
      return statusOf(await this.#look(), this.#prepared);
    }, signal);
  }

  async reboot(signal?: AbortSignal): Promise<void> {
    try {
      await this.#reach(() => this.#options.reboot(), signal);
    } catch (error) {
      if (!(error instanceof HostUnreachableError)) throw error;
      throw new HostActionFailedError('reboot', error.message);
    }
  }

  /** @throws UpdateGoneError where the order lacks the release's tag or the URL of its source */
  #releaseFor(version: string): { readonly tag: string; readonly url: string } {
    const { [VERSION_ANNOTATION]: tag = '', [CHANNEL_ANNOTATION]: url = '' } = this.#order;
    if (releaseOf(tag)?.version !== version || url === '')
      throw new UpdateGoneError(`the order does not say which release ${version} is, and where it comes from`);
    return { tag, url };
  }

  /** Reads the files. It also records what has booted, unless somebody has changed the links already. */
  async #look(): Promise<Seen> {
    const running = await this.#system.running();
    const links = await this.#system.links();
    const record = await this.#system.record();
    if (record || links.k3os !== running) return { running, links, record };
    const first = { booted: links };
    await this.#system.remember(first);
    return { running, links, record: first };
  }

  async #remember({ record }: Seen, done: string | undefined, signal: AbortSignal | undefined): Promise<void> {
    if (record) await this.#reach(() => this.#system.remember({ booted: record.booted, done }), signal);
  }

  async #upgrade({ tag, url }: { readonly tag: string; readonly url: string }, signal?: AbortSignal): Promise<Ended> {
    const { clock, random } = this.#options;
    const deadline = clock.monotonic() + UPGRADE_MS;
    const kernel = await this.#reach(() => this.#system.hasKernel(), signal);
    const options = ['--remount', `--kernel=${kernel}`, '--rootfs=true', '--sync'];
    const command: Command = [K3OS, 'ops', 'upgrade', `--channel=${url}`, `--version=${tag}`, ...options];
    const run = async (): Promise<Ended> => {
      const ended = await this.#program.run(command, { deadline, signal });
      if (isLocked(ended)) throw new HostBusyError('somebody else upgrades the host');
      return ended;
    };
    return retry(() => this.#reach(run, signal), {
      clock,
      random,
      signal,
      firstMs: 1000,
      maxMs: 10_000,
      isTransient: (error) => error instanceof HostBusyError,
      deadline,
    });
  }

  /**
   * The mount of the host's system is read-only in each new container. The host's tool remounts it before it asks for a release, so the tool's exit
   * status is ignored.
   */
  async #restore(booted: Links, running: string, signal: AbortSignal | undefined): Promise<void> {
    try {
      return await this.#system.restore(booted);
    } catch (error) {
      if (!(error instanceof HostUnreachableError) || error.code !== 'EROFS') throw error;
    }
    const nothing = ['--remount', '--kernel=false', '--rootfs=false'];
    const source = [`--channel=${DEFAULT_CHANNEL_URL}`, `--version=${running}`];
    const deadline = this.#options.clock.monotonic() + REMOUNT_MS;
    await this.#program.run([K3OS, 'ops', 'upgrade', ...source, ...nothing], { deadline, signal });
    await this.#system.restore(booted);
  }

  #reach<T>(request: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    return throughTrouble(request, { ...this.#options, signal });
  }
}

/** The content of the files at one moment. */
interface Seen {
  /** The release that runs, as its source names it. */
  readonly running: string;
  readonly links: Links;
  /** Undefined where the links were changed before they were first read. */
  readonly record: BootRecord | undefined;
}

/** Whether the links point to another system than the running one, also in part. */
function isChanged({ running, links, record }: Seen): boolean {
  return record ? !sameLinks(links, record.booted) : links.k3os !== running;
}

function statusOf(seen: Seen, prepared: string | undefined): HostStatus {
  const { running, links } = seen;
  const active = { image: imageOf(running), nextToBoot: !isChanged(seen) };
  const common = { chosen: undefined, active, lastCommand: undefined };
  // Where nothing boots next, no version names it.
  if (isChanged(seen)) {
    const image = links.k3os === undefined ? { ...active.image, version: '' } : imageOf(links.k3os);
    return { ...common, state: 'Ready', staging: { image, nextToBoot: true } };
  }
  if (prepared === undefined) return { ...common, state: 'Idle', staging: undefined };
  return { ...common, state: 'Staged', staging: { image: { ...active.image, version: prepared }, nextToBoot: false } };
}

function imageOf(tag: string): Image {
  return { version: tag.replace(/^v/, ''), variant: 'k3os', arch: process.arch };
}

/** Another process holds the tool's lock. The tool does not wait for it. */
function isLocked({ exit, stderr }: Ended): boolean {
  return exit !== 0 && /resource temporarily unavailable/i.test(stderr);
}
