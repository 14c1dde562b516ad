import { childAbort } from '../../../lib/abort.ts';
import type { NotificationConfig, NotificationTarget } from '../../../api/notifications/config.ts';
import { type Fact, passes } from '../../../api/notifications/fact.ts';
import type { Statements } from '../statements.ts';
import type { Notifier, NotifierParts } from '../notifier.ts';
import { delivered } from './delivery.ts';
import { disturbedBy } from './disturbed.ts';
import { readConfig } from './folder.ts';
import { type Memory, newsIn, NOTHING } from './memory.ts';
import { Outbox } from './outbox.ts';
import type { DeliveryOutcome } from './outcome.ts';
import { Silencers } from './silencers.ts';
import { StateStore } from './state.ts';
import { answerTests } from './tester.ts';

/** How often the configuration is read: the kubelet updates the file within a minute of a change, without notice. */
const CONFIG_EACH_MS = 10_000;

/** A target that is being notified. */
interface ActiveTarget {
  target: NotificationTarget;
  readonly outbox: Outbox;
  readonly ends: Promise<void>;
  stop(): void;
}

/** Notifies targets outside of the cluster of what plans say, and remembers in the cluster what was told. */
class Notifications implements Notifier {
  readonly #parts: NotifierParts;
  readonly #send: typeof delivered;
  readonly #silencers: Silencers;
  readonly #store: StateStore;
  readonly #active = new Map<string, ActiveTarget>();
  /** The last one that could be used; undefined before the first. */
  #config: NotificationConfig | undefined;
  #fault: string | undefined;
  /** Those of the newest plan of this term. */
  #statements: Statements | undefined;
  #told: Memory['told'];
  /** What an earlier process has left, for targets that are not known yet. */
  #restored: Memory = NOTHING;
  /** UID of the ConfigMap; undefined before it was read in this term. */
  #uid: string | undefined;

  constructor(parts: NotifierParts, send: typeof delivered) {
    this.#parts = parts;
    this.#send = send;
    this.#silencers = new Silencers({ ...parts, onChange: () => this.#store.note() });
    this.#store = new StateStore(parts, () => this.#memory);
  }

  observe(statements: Statements, planned: Parameters<Notifier['observe']>[1]): void {
    this.#statements = statements;
    if (this.#config?.silences.length !== 0) this.#silencers.observe(disturbedBy(planned));
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
      this.#configureTargets(signal);
      await Promise.all([this.#store.keep(signal), this.#keepConfigured(signal), this.#answerTests(signal)]);
    }
    await this.#endAll();
  }

  get #memory(): Memory {
    const { waiting, silences } = this.#restored;
    const now = [...this.#active].map(([name, { outbox }]) => [name, outbox.waiting] as const);
    return {
      told: this.#told,
      waiting: new Map([...waiting, ...now]),
      silences: new Map([...silences, ...this.#silencers.made]),
    };
  }

  /** Gives the news to every target that wants it. Before the memory was read, it is not known what is news. */
  #tell(): void {
    if (this.#uid === undefined || !this.#config || !this.#statements) return;
    const moment = { uid: this.#uid, now: this.#parts.clock.now() };
    const { facts, told } = newsIn(this.#statements, this.#told, moment);
    if (told === this.#told) return;
    this.#told = told;
    this.#store.note();
    for (const fact of facts) {
      for (const { target, outbox } of this.#active.values()) if (passes(target, fact)) outbox.add(fact);
    }
  }

  async #configure(): Promise<void> {
    const { dir, logger, metrics } = this.#parts;
    try {
      this.#config = await readConfig(dir);
      this.#fault = undefined;
    } catch (error) {
      const fault = error instanceof Error ? error.message : 'unknown';
      // The configuration that was read before stays in use.
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
      this.#configureTargets(signal);
    }
  }

  /** Notifies the targets that are configured now, and no others. */
  #configureTargets(signal: AbortSignal): void {
    if (signal.aborted || !this.#config) return;
    const { targets, silences } = this.#config;
    const names = new Set(targets.map(({ name }) => name));
    for (const [name, target] of this.#active) {
      if (names.has(name)) continue;
      target.stop();
      this.#active.delete(name);
      this.#parts.metrics.hide(name);
      this.#store.note();
    }
    for (const target of targets) {
      const known = this.#active.get(target.name);
      if (known) known.target = target;
      else this.#active.set(target.name, this.#begin(target, this.#restored.waiting.get(target.name) ?? [], signal));
    }
    this.#silencers.configure(silences, this.#restored.silences, signal);
    this.#restored = NOTHING;
    this.#tell();
  }

  #begin(target: NotificationTarget, waiting: readonly Fact[], signal: AbortSignal): ActiveTarget {
    const { name } = target;
    this.#parts.metrics.show(name);
    const ending = childAbort(signal);
    const outbox = new Outbox(
      {
        ...this.#parts,
        target: name,
        deliver: (fact, inner) => this.#deliver(this.#active.get(name)?.target ?? target, fact, inner),
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
      onGone: () => this.#store.noteDeletion(),
      targets: () => this.#config?.targets.map(({ name }) => name),
      deliver: async (name: string, fact: Fact, inner: AbortSignal): Promise<DeliveryOutcome> => {
        const target = this.#config?.targets.find((one) => one.name === name);
        return target ? this.#deliver(target, fact, inner) : { kind: 'refused', why: 'it is no target any more' };
      },
    };
    return answerTests(tests, signal);
  }

  async #endAll(): Promise<void> {
    const { metrics } = this.#parts;
    // The next leader shows what fails from now on.
    for (const name of this.#active.keys()) metrics.hide(name);
    metrics.unusable(false);
    this.#fault = undefined;
    await Promise.all([...[...this.#active.values()].map(({ ends }) => ends), this.#silencers.ended]);
    await this.#store.flush();
    this.#active.clear();
    this.#silencers.clear();
  }
}

/** @param send tries once, and never rejects */
export const notificationsOf = (parts: NotifierParts, send = delivered): Notifier => new Notifications(parts, send);
