import { childAbort } from '../../../lib/abort.ts';
import type { Silencer } from '../../../api/notifications/config.ts';
import type { NotifierParts } from '../notifier.ts';
import { createSilence, expireSilence } from './alertmanager.ts';
import type { Disturbed } from './disturbed.ts';
import type { Memory } from './memory.ts';
import { type SilencedNodes, Silences } from './silences.ts';

interface SilencersOptions extends Pick<NotifierParts, 'dir' | 'clock' | 'random' | 'logger' | 'metrics'> {
  /** Called after `made` has changed. */
  readonly onChange: () => void;
}

interface ActiveSilencer {
  silencer: Silencer;
  readonly silences: Silences;
  readonly ends: Promise<void>;
  stop(): void;
}

/** All Alertmanagers that are asked for silences, for one term as leader. A slow one delays no other. */
export class Silencers {
  readonly #options: SilencersOptions;
  readonly #active = new Map<string, ActiveSilencer>();
  #disturbed: Disturbed | undefined;

  constructor(options: SilencersOptions) {
    this.#options = options;
  }

  /** By Alertmanager. */
  get made(): Memory['silences'] {
    return new Map([...this.#active].map(([name, { silences }]) => [name, silences.made]));
  }

  observe(disturbed: Disturbed): void {
    this.#disturbed = disturbed;
    for (const { silences } of this.#active.values()) silences.observe(disturbed);
  }

  /** Asks these Alertmanagers from now on, and no others. @param made by an earlier process */
  configure(silencers: readonly Silencer[], made: Memory['silences'], signal: AbortSignal): void {
    const names = new Set(silencers.map(({ name }) => name));
    for (const [name, one] of this.#active) {
      if (names.has(name)) continue;
      one.stop();
      this.#active.delete(name);
      this.#options.onChange();
    }
    for (const silencer of silencers) {
      const known = this.#active.get(silencer.name);
      if (known) known.silencer = silencer;
      else this.#active.set(silencer.name, this.#start(silencer, made.get(silencer.name) ?? new Map(), signal));
    }
  }

  /** Resolves when all work has ended, after the signal of the term has aborted. */
  get ended(): Promise<unknown> {
    return Promise.all([...this.#active.values()].map((one) => one.ends));
  }

  /** Forgets everything: the next term reads from the memory what was made. */
  clear(): void {
    this.#active.clear();
    this.#disturbed = undefined;
  }

  #start(first: Silencer, made: SilencedNodes, signal: AbortSignal): ActiveSilencer {
    const { name } = first;
    const silencer = (): Silencer => this.#active.get(name)?.silencer ?? first;
    const access = (inner: AbortSignal) => ({ ...this.#options, silencer: silencer(), signal: inner });
    const parts = {
      ...this.#options,
      name,
      durationMs: () => silencer().durationInSec * 1000,
      create: (node: string, inner: AbortSignal) => createSilence(node, access(inner)),
      expire: (id: string, inner: AbortSignal) => expireSilence(id, access(inner)),
    };
    const silences = new Silences(parts, made);
    const ending = childAbort(signal);
    const ends = silences.run(ending.signal).finally(() => ending.release());
    if (this.#disturbed) silences.observe(this.#disturbed);
    return { silencer: first, silences, ends, stop: () => ending.abort(new Error('it is not configured any more')) };
  }
}
