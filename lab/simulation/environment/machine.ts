import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { type HostOptions, SimulatedHost } from '../../sim/hosts/host.ts';
import type { HostAnswer, HostCall } from '../../sim/hosts/answer.ts';
import type { Boot } from '../../sim/hosts/machine.ts';
import type { HostTimes } from '../../sim/hosts/times.ts';
import { Life, ProcessClock, type TrueTime } from '../clock.ts';
import type { HostEntry } from '../types.ts';
import { between } from './chance.ts';

export interface MachineOptions extends Pick<
  HostOptions,
  'random' | 'releases' | 'version' | 'variant' | 'arch' | 'boots'
> {
  readonly name: string;
  readonly time: TrueTime;
  readonly onHost: (entry: HostEntry) => void;
  readonly onUp: (boot: Boot) => void;
  /** @param how silent where nobody had asked for it: nothing is told to end, and no connection is closed */
  readonly onDown: (how: 'orderly' | 'silent') => void;
}

/** A host that was asked to reboot is down by then, if an inhibitor delays it, too; or the request has come to nothing. Milliseconds. */
const GOES_DOWN_WITHIN = 180_000;

/** A machine with a host on it, of which the history tells. */
export class Machine {
  /** How far its wall clock is off, milliseconds. */
  offMs = 0;
  readonly clock: Clock;
  readonly host: SimulatedHost;
  readonly #options: MachineOptions;
  /** When somebody last asked this boot for a reboot, by true time. */
  #askedAt = -Infinity;
  #isActivated = false;
  /** What its settings were said to be. */
  #settings = '';

  constructor(options: MachineOptions) {
    const { time, random } = options;
    this.#options = options;
    this.clock = new ProcessClock(time, new Life(), () => this.offMs);
    this.host = new SimulatedHost({ ...options, clock: this.clock, times: times(random) });
    this.host.observe({
      onUp: (boot) => this.#up(boot),
      onDown: () => this.#down(),
      onAnswer: (call, answer) => this.#answered(call, answer),
    });
  }

  #up(boot: Boot): void {
    this.#askedAt = -Infinity;
    this.#tell({ kind: 'up', bootId: boot.id, version: boot.version });
    this.#isActivated = false;
    this.#noteSettings('boot');
    this.#options.onUp(boot);
  }

  #down(): void {
    const asked = this.clock.monotonic() - this.#askedAt < GOES_DOWN_WITHIN;
    this.#tell({ kind: 'down', asked });
    this.#options.onDown(asked ? 'orderly' : 'silent');
  }

  #answered({ method, path }: HostCall, answer: HostAnswer): void {
    // Where the answer is lost on its way, the host has been asked all the same.
    const isRefused = answer.kind === 'answer' && answer.status >= 400;
    if (method === 'POST' && path === '/actions/reboot' && !isRefused) this.#askedAt = this.clock.monotonic();
    this.#tell({ kind: 'call', method, path, status: answer.kind === 'answer' ? answer.status : 'none' });
    this.#noteActivation();
    if (path.startsWith('/tx/commit')) this.#noteSettings(path.endsWith('?tx=brupop') ? 'agent' : 'hand');
  }

  #noteSettings(by: 'agent' | 'hand' | 'boot'): void {
    const { 'version-lock': lock, 'ignore-waves': ignoresWaves } = this.host.settings.updates;
    const said = `${lock} ${ignoresWaves}`;
    if (said !== this.#settings) this.#tell({ kind: 'settings', by, lock, ignoresWaves });
    this.#settings = said;
  }

  /** What an action has come to shows when its status is asked for. */
  #noteActivation(): void {
    const { isActivated: on } = this.host;
    if (on !== this.#isActivated) this.#tell({ kind: 'activation', on });
    this.#isActivated = on;
  }

  #tell(event: HostEntry['event']): void {
    const { name, onHost } = this.#options;
    onHost({ kind: 'host', node: name, event });
  }
}

/** What this machine's own work takes: no two are alike, and some boot before anybody misses them. */
function times(random: Random): HostTimes {
  const shutdownMs = between(random, 1000, 12_000);
  return {
    refreshMs: between(random, 1000, 6000),
    prepareMs: between(random, 10_000, 120_000),
    shutdownMs,
    rebootMs: shutdownMs + between(random, 15_000, 150_000),
    spread: 0.2,
  };
}
