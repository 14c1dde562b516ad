import { uuid } from '../cluster/ids.ts';
import { background } from './background.ts';
import type { HostParts } from './times.ts';

export interface Boot {
  /** The kernel's boot id: a random UUID. */
  readonly id: string;
  readonly version: string;
  /** Aborts when the host goes down. */
  readonly signal: AbortSignal;
}

export interface MachineParts extends HostParts {
  /** Whether an image of this version boots on any machine. */
  readonly boots: (version: string) => boolean;
  readonly onUp: (boot: Boot) => void;
  readonly onDown: () => void;
}

const INHIBITED_MS = 120_000;

/** A host as hardware: it is up or down, and which of its two systems it starts. */
export class Machine {
  readonly #parts: MachineParts;
  #life = AbortSignal.abort();
  #running: { readonly boot: Boot; readonly end: AbortController } | undefined;
  #goingDown = false;
  /** The start that is under way; a machine that is switched off in the middle of one does not end it. */
  #starting: symbol | undefined;

  constructor(parts: MachineParts) {
    this.#parts = parts;
  }

  /** The first boot takes no time. Nothing happens any more once the signal aborts. */
  start(signal: AbortSignal): void {
    this.#life = signal;
    this.#comeUp();
  }

  /** Undefined while the host is down. */
  get boot(): Boot | undefined {
    return this.#running?.boot;
  }

  /** An orderly reboot: accepted at once, down after a while. A second request changes nothing. */
  reboot(): void {
    const { boot } = this;
    if (!boot || this.#goingDown) return;
    this.#goingDown = true;
    background(this.#shutDown(boot), boot.signal);
  }

  /** Down at once, as after a loss of power; back when it has booted. */
  crash(): void {
    if (this.#running) this.#restart(this.#parts.clock.now());
  }

  /** Off at once, and stays so until it is switched on. */
  powerOff(): void {
    this.#starting = undefined;
    this.#goDown();
  }

  /** Boots a machine that is off or has not come back. */
  powerOn(): void {
    if (this.#running || this.#starting) return;
    background(this.#bootUp(this.#parts.clock.now()), this.#life);
  }

  async #shutDown(boot: Boot): Promise<void> {
    const { clock, faults, times } = this.#parts;
    const startMs = clock.now();
    if (faults.strikes('inhibitor')) await clock.sleep(INHIBITED_MS, boot.signal);
    await clock.sleep(times.shutdownMs, boot.signal);
    this.#restart(startMs);
  }

  #restart(startMs: number): void {
    const { faults } = this.#parts;
    this.#goDown();
    if (!faults.strikes('no-return')) background(this.#bootUp(startMs), this.#life);
  }

  #goDown(): void {
    const end = this.#running?.end;
    if (!end) return;
    this.#running = undefined;
    end.abort(new Error('the host went down'));
    this.#parts.onDown();
  }

  async #bootUp(startMs: number): Promise<void> {
    const { clock, faults, sets, times, intervals, boots } = this.#parts;
    const starting = Symbol('start');
    this.#starting = starting;
    const attempts = sets.boot({
      boots: (version) => !faults.strikes('boot') && boots(version),
      marks: () => !faults.strikes('unmarked'),
    });
    await clock.sleep(attempts * (times.rebootMs - times.shutdownMs), this.#life);
    if (this.#starting !== starting) return;
    intervals.push({ action: 'reboot', startMs, endMs: clock.now() });
    this.#comeUp();
  }

  #comeUp(): void {
    const { random, sets, onUp } = this.#parts;
    const end = new AbortController();
    const boot = { id: uuid(random), version: sets.running, signal: AbortSignal.any([end.signal, this.#life]) };
    this.#starting = undefined;
    this.#running = { boot, end };
    this.#goingDown = false;
    onUp(boot);
  }
}
