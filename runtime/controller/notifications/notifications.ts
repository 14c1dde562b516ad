import { childAbort } from '../../lib/abort.ts';
import type { NotificationConfig, NotificationTarget } from '../../notifications/config.ts';
import { type Fact, passes } from '../../notifications/fact.ts';
import type { Statements } from '../statements.ts';
import type { Notifier, NotifierParts } from '../notifier.ts';
import { delivered } from './delivery.ts';
import { disturbedBy } from './disturbed.ts';
import { readConfig } from './folder.ts';
import { type Memory, newsIn, NOTHING } from './memory.ts';
import { Outbox } from './outbox.ts';
import type { Outcome } from './outcome.ts';
import { Silencing } from './silencing.ts';
import { StateStore } from './state.ts';
import { answerTests } from './tester.ts';

/** How often the configuration is read: the kubelet brings what changes there within a minute, and nobody tells. */
const CONFIG_EACH_MS = 10_000;

/** A target that is told now. */
interface Telling {
  target: NotificationTarget;
  readonly outbox: Outbox;
  readonly ends: Promise<void>;
  stop(): void;
}

/** Tells targets outside of the cluster what plans say, and remembers in the cluster what was told. */
class Notifications implements Notifier {
  readonly #parts: NotifierParts;
  readonly #send: typeof delivered;
  readonly #silencing: Silencing;
  readonly #store: StateStore;
  readonly #tellings = new Map<string, Telling>();
  /** Undefined before the first that can be used: nobody knows whom to tell. */
  #config: NotificationConfig | undefined;
  #fault: string | undefined;
  /** The newest of this term. */
  #statements: Statements | undefined;
  #told: Memory['told'];
  /** What a process before has left, for those who are not known yet. */
  #restored: Memory = NOTHING;
  /** Of the ConfigMap; undefined before it was read in this term. */
  #uid: string | undefined;

  constructor(parts: NotifierParts, send: typeof delivered) {
    this.#parts = parts;
    this.#send = send;
    this.#silencing = new Silencing({ ...parts, onChange: () => this.#store.note() });
    this.#store = new StateStore(parts, () => this.#memory);
  }

  observe(statements: Statements, planned: Parameters<Notifier['observe']>[1]): void {
    this.#statements = statements;
    if (this.#config?.silences.length !== 0) this.#silencing.observe(disturbedBy(planned));
    this.#tell();
  }

  async lead(signal: AbortSignal): Promise<void> {
    this.#statements = undefined;
    this.#uid = undefined;
    await this.#configure();
    const recalled = await this.#store.recall(signal);
    if (recalled && !signal.aborted) {
      this.#uid = recalled.uid;
      this.#told = recalled.memory.told;
      this.#restored = recalled.memory;
      this.#tellAll(signal);
      await Promise.all([this.#store.keep(signal), this.#keepConfigured(signal), this.#answerTests(signal)]);
    }
    await this.#endAll();
  }

  get #memory(): Memory {
    const { waiting, silences } = this.#restored;
    const now = [...this.#tellings].map(([name, { outbox }]) => [name, outbox.waiting] as const);
    return {
      told: this.#told,
      waiting: new Map([...waiting, ...now]),
      silences: new Map([...silences, ...this.#silencing.made]),
    };
  }

  /** Takes what is new for every target that wants it. Until the memory was read, nobody knows what is. */
  #tell(): void {
    if (this.#uid === undefined || !this.#config || !this.#statements) return;
    const moment = { uid: this.#uid, now: this.#parts.clock.now() };
    const { facts, told } = newsIn(this.#statements, this.#told, moment);
    if (told === this.#told) return;
    this.#told = told;
    this.#store.note();
    for (const fact of facts) {
      for (const { target, outbox } of this.#tellings.values()) if (passes(target, fact)) outbox.add(fact);
    }
  }

  async #configure(): Promise<void> {
    const { dir, logger, metrics } = this.#parts;
    try {
      this.#config = await readConfig(dir);
      this.#fault = undefined;
    } catch (error) {
      const fault = error instanceof Error ? error.message : 'unknown';
      // What was read before stays.
      if (fault !== this.#fault) logger.error('configuration of notifications cannot be used', { dir, error });
      this.#fault = fault;
    }
    metrics.unusable(this.#fault !== undefined);
  }

  async #keepConfigured(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(CONFIG_EACH_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      await this.#configure();
      this.#tellAll(signal);
    }
  }

  /** Tells those that are configured, and nobody else. */
  #tellAll(signal: AbortSignal): void {
    if (signal.aborted || !this.#config) return;
    const { targets, silences } = this.#config;
    const names = new Set(targets.map(({ name }) => name));
    for (const [name, telling] of this.#tellings) {
      if (names.has(name)) continue;
      telling.stop();
      this.#tellings.delete(name);
      this.#parts.metrics.hide(name);
      this.#store.note();
    }
    for (const target of targets) {
      const known = this.#tellings.get(target.name);
      if (known) known.target = target;
      else
        this.#tellings.set(target.name, this.#telling(target, this.#restored.waiting.get(target.name) ?? [], signal));
    }
    this.#silencing.configure(silences, this.#restored.silences, signal);
    this.#restored = NOTHING;
    this.#tell();
  }

  #telling(target: NotificationTarget, waiting: readonly Fact[], signal: AbortSignal): Telling {
    const { name } = target;
    this.#parts.metrics.show(name);
    const ending = childAbort(signal);
    const outbox = new Outbox(
      {
        ...this.#parts,
        target: name,
        deliver: (fact, inner) => this.#deliver(this.#tellings.get(name)?.target ?? target, fact, inner),
        onChange: () => this.#store.note(),
      },
      waiting,
    );
    const ends = outbox.run(ending.signal).finally(() => ending.release());
    return { target, outbox, ends, stop: () => ending.abort(new Error('it is no target any more')) };
  }

  #deliver(target: NotificationTarget, fact: Fact, signal: AbortSignal) {
    const { dir, clock } = this.#parts;
    return this.#send(fact, { dir, cluster: this.#config?.cluster ?? '', target }, { clock, signal });
  }

  #answerTests(signal: AbortSignal): Promise<void> {
    const tests = {
      ...this.#parts,
      onGone: () => this.#store.isGone(),
      targets: () => this.#config?.targets.map(({ name }) => name),
      deliver: async (name: string, fact: Fact, inner: AbortSignal): Promise<Outcome> => {
        const target = this.#config?.targets.find((one) => one.name === name);
        return target ? this.#deliver(target, fact, inner) : { kind: 'refused', why: 'it is no target any more' };
      },
    };
    return answerTests(tests, signal);
  }

  async #endAll(): Promise<void> {
    const { metrics } = this.#parts;
    // What fails is the next leader's to say.
    for (const name of this.#tellings.keys()) metrics.hide(name);
    metrics.unusable(false);
    this.#fault = undefined;
    await Promise.all([...[...this.#tellings.values()].map((telling) => telling.ends), this.#silencing.ended]);
    await this.#store.flush();
    this.#tellings.clear();
    this.#silencing.clear();
  }
}

/** @param send tries once, and never rejects */
export const notificationsOf = (parts: NotifierParts, send = delivered): Notifier => new Notifications(parts, send);
