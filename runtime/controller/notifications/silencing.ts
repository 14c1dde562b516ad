import { childAbort } from '../../lib/abort.ts';
import type { Silencer } from '../../notifications/config.ts';
import type { NotifierParts } from '../notifier.ts';
import { createSilence, expireSilence } from './alertmanager.ts';
import type { Disturbed } from './disturbed.ts';
import type { Memory } from './memory.ts';
import { type SilencedNodes, Silences } from './silences.ts';

interface SilencingOptions extends Pick<NotifierParts, 'dir' | 'clock' | 'random' | 'logger' | 'metrics'> {
  /** What stands has changed. */
  readonly onChange: () => void;
}

interface AtWork {
  silencer: Silencer;
  readonly silences: Silences;
  readonly ends: Promise<void>;
  stop(): void;
}

/** All Alertmanagers that are asked for silences. What one does delays no other. For one term as leader. */
export class Silencing {
  readonly #options: SilencingOptions;
  readonly #atWork = new Map<string, AtWork>();
  #disturbed: Disturbed | undefined;

  constructor(options: SilencingOptions) {
    this.#options = options;
  }

  /** By Alertmanager. */
  get made(): Memory['silences'] {
    return new Map([...this.#atWork].map(([name, { silences }]) => [name, silences.made]));
  }

  observe(disturbed: Disturbed): void {
    this.#disturbed = disturbed;
    for (const { silences } of this.#atWork.values()) silences.observe(disturbed);
  }

  /** Asks these from now on, and nobody else. @param made by a process before */
  configure(silencers: readonly Silencer[], made: Memory['silences'], signal: AbortSignal): void {
    const names = new Set(silencers.map(({ name }) => name));
    for (const [name, one] of this.#atWork) {
      if (names.has(name)) continue;
      one.stop();
      this.#atWork.delete(name);
      this.#options.onChange();
    }
    for (const silencer of silencers) {
      const known = this.#atWork.get(silencer.name);
      if (known) known.silencer = silencer;
      else this.#atWork.set(silencer.name, this.#start(silencer, made.get(silencer.name) ?? new Map(), signal));
    }
  }

  /** After the signal of the term has aborted. */
  get ended(): Promise<unknown> {
    return Promise.all([...this.#atWork.values()].map((one) => one.ends));
  }

  /** What was made is the next term's to know. */
  clear(): void {
    this.#atWork.clear();
    this.#disturbed = undefined;
  }

  #start(first: Silencer, made: SilencedNodes, signal: AbortSignal): AtWork {
    const { name } = first;
    const silencer = (): Silencer => this.#atWork.get(name)?.silencer ?? first;
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
    return { silencer: first, silences, ends, stop: () => ending.abort(new Error('it is asked no more')) };
  }
}
