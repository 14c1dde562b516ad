import { jitter } from '../../../../runtime/lib/random.ts';
import type { Machine } from '../machine.ts';
import type { HostParts } from '../times.ts';
import type { ToolEnd } from '../updog.ts';
import type { K3osDisk } from './disk.ts';

export interface K3osParts extends HostParts {
  readonly disk: K3osDisk;
  /** Whether the source at this URL has a release of this name. */
  readonly has: (url: string, tag: string) => Promise<boolean>;
  readonly machine: Machine;
}

const COMPONENTS = ['k3os', 'k3s', 'kernel'] as const;
const current = (component: string): string => `/k3os/system/${component}/current`;
const RECORD = '/run/k3os/brupop.json';

const ended = (exit: number, stderr = ''): ToolEnd => ({ exit, stdout: '', stderr });
/** As its log writes it. */
const fatal = (message: string): ToolEnd => ended(1, `time="2026-01-01T00:00:00Z" level=fatal msg="${message}"\n`);
const KILLED: ToolEnd = { exit: undefined, stdout: '', stderr: '' };

/** What a k3OS host has that others have not: links that say what boots next, and one tool that downloads a release and sets them. */
export class K3osInstallation {
  readonly #parts: K3osParts;
  #isLocked = false;

  constructor(parts: K3osParts) {
    this.#parts = parts;
    for (const component of COMPONENTS) this.#point(component, this.#tag);
  }

  /** What a boot leaves: memory is empty, and what was downloaded runs. */
  cameUp(): void {
    const { disk } = this.#parts;
    const tag = this.#tag;
    disk.write('/etc/os-release', `NAME="k3OS"\nID=k3os\nPRETTY_NAME="k3OS ${tag}"\nVERSION_ID="${tag}"\n`);
    disk.write('/run/k3os/mode', 'disk\n');
    disk.remove(RECORD);
    this.#isLocked = false;
  }

  /** Which system boots next. */
  wentDown(): void {
    const { disk, sets } = this.#parts;
    const next = disk.linkAt(current('k3os'))?.replace(/^v/, '') ?? 'nothing';
    if (next === sets.running) return sets.wipe();
    sets.write(next);
    sets.activate();
  }

  /** Runs `k3os`. Resolves when it has ended or was killed. */
  async run(args: readonly string[], killed: AbortSignal): Promise<ToolEnd> {
    const { clock, disk, faults, times, random, intervals } = this.#parts;
    if (args[0] !== 'ops' || args[1] !== 'upgrade') return ended(3, 'No help topic for it\n');
    if (this.#isLocked || faults.leftMs('busy') > 0) return fatal('resource temporarily unavailable');
    this.#isLocked = true;
    const startMs = clock.now();
    try {
      await clock.sleep(faults.leftMs('silent'), killed);
      if (args.includes('--remount')) disk.remount?.();
      if (optionOf(args, 'rootfs') === 'false') return ended(0);
      return await this.#upgrade(args, jitter(times.prepareMs, times.spread, random) / 3, killed);
    } catch (error) {
      if (!killed.aborted) throw error;
      return KILLED;
    } finally {
      this.#isLocked = false;
      intervals.push({ action: 'activate', startMs, endMs: clock.now() });
    }
  }

  /** The kernel comes first, then the rest; each third of the time is over before one of them takes hold. */
  async #upgrade(args: readonly string[], thirdMs: number, killed: AbortSignal): Promise<ToolEnd> {
    const { clock, faults } = this.#parts;
    const [url, tag] = [optionOf(args, 'channel'), optionOf(args, 'version')];
    await clock.sleep(thirdMs, killed);
    if (faults.leftMs('repository-gone') > 0) return fatal('Get https://api.github.com/: dial tcp: i/o timeout');
    if (faults.strikes('offer-gone') || !(await this.#parts.has(url, tag))) return fatal(`404 Not Found: ${tag}`);
    if (faults.leftMs('garbage') > 0) return ended(0, 'nothing to do\n');
    if (optionOf(args, 'kernel') === 'true') this.#point('kernel', tag);
    await clock.sleep(thirdMs, killed);
    const mishap = await this.#mishap(killed);
    if (mishap) return mishap;
    for (const component of ['k3s', 'k3os']) this.#point(component, tag);
    await clock.sleep(thirdMs, killed);
    if (faults.strikes('half-open')) await clock.sleep(Infinity, killed);
    return ended(0);
  }

  /** What goes wrong once the kernel is replaced, and nothing else. */
  async #mishap(killed: AbortSignal): Promise<ToolEnd | undefined> {
    const { clock, faults, machine } = this.#parts;
    if (faults.strikes('activate')) return fatal('unexpected EOF');
    if (faults.strikes('hang')) await clock.sleep(Infinity, killed);
    if (faults.strikes('updog-killed')) return this.#killedBetween();
    if (!faults.strikes('unplanned-reboot')) return undefined;
    machine.crash();
    return KILLED;
  }

  /** It moves the old link away before it makes the new one. */
  #killedBetween(): ToolEnd {
    this.#parts.disk.remove(current('k3os'));
    return KILLED;
  }

  get #tag(): string {
    return `v${this.#parts.sets.running}`;
  }

  #point(component: string, tag: string): void {
    this.#parts.disk.link(current(component), tag);
  }
}

function optionOf(args: readonly string[], name: string): string {
  return args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
}
