import { childAbort } from '../../lib/abort.ts';
import { backoff } from '../../lib/retry.ts';
import { Wakeup } from '../../lib/wakeup.ts';
import type { NotificationConfig, NotificationTarget } from '../../notifications/config.ts';
import { type Fact, passes } from '../../notifications/fact.ts';
import { NOTIFICATIONS_STATE } from '../../notifications/names.ts';
import type { Statements } from '../diff.ts';
import type { ConfigMap, Notifier, NotifierParts } from '../notifier.ts';
import { delivered } from './delivery.ts';
import { disturbedBy } from './disturbed.ts';
import { readConfig } from './folder.ts';
import { type Memory, newsIn, NOTHING } from './memory.ts';
import { Outbox } from './outbox.ts';
import type { Outcome } from './outcome.ts';
import { Silencing } from './silencing.ts';
import { read, written } from './stored.ts';
import { answerTests } from './tester.ts';

/** How often the configuration is read: the kubelet brings what changes there within a minute, and nobody tells. */
const CONFIG_EACH_MS = 10_000;
/** The memory is written once in this time at most. */
const PACE_MS = 1000;
/** After a request to the API server that failed. */
const PAUSE = { firstMs: PACE_MS, maxMs: 300_000 };
/** Key of the ConfigMap. */
const STATE = 'state.json';

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
  readonly #wakeup = new Wakeup();
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
  #isDirty = false;

  constructor(parts: NotifierParts, send: typeof delivered) {
    this.#parts = parts;
    this.#send = send;
    this.#silencing = new Silencing({ ...parts, onChange: () => this.#note() });
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
    const memory = await this.#recall(signal);
    if (!signal.aborted) {
      this.#told = memory.told;
      this.#restored = memory;
      this.#tellAll(signal);
      await Promise.all([this.#keepMemory(signal), this.#keepConfigured(signal), this.#answerTests(signal)]);
    }
    await this.#endAll();
  }

  /** Takes what is new for every target that wants it. Until the memory was read, nobody knows what is. */
  #tell(): void {
    if (this.#uid === undefined || !this.#config || !this.#statements) return;
    const moment = { uid: this.#uid, now: this.#parts.clock.now() };
    const { facts, told } = newsIn(this.#statements, this.#told, moment);
    if (told === this.#told) return;
    this.#told = told;
    this.#note();
    for (const fact of facts) {
      for (const { target, outbox } of this.#tellings.values()) if (passes(target, fact)) outbox.add(fact);
    }
  }

  #note(): void {
    this.#isDirty = true;
    this.#wakeup.ring();
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
      this.#note();
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
        onChange: () => this.#note(),
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
    const ends = [...this.#tellings.values()].map((telling) => telling.ends);
    // What fails is the next leader's to say.
    for (const name of this.#tellings.keys()) metrics.hide(name);
    metrics.unusable(false);
    this.#fault = undefined;
    this.#tellings.clear();
    await Promise.all([...ends, this.#silencing.end()]);
  }

  /** What this process, or one before it, has remembered. Nothing is told before that is known. */
  async #recall(signal: AbortSignal): Promise<Memory> {
    const { clock, random, logger } = this.#parts;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const found = await this.#stored(signal);
        this.#uid = found.metadata.uid;
        return read(found.data?.[STATE]);
      } catch (error) {
        if (signal.aborted) break;
        logger.warn('memory of notifications not read', { error });
        await clock.sleep(backoff(failures, { ...PAUSE, random }), signal).catch(() => undefined);
      }
    }
    return NOTHING;
  }

  async #stored(signal: AbortSignal): Promise<ConfigMap> {
    const { configMaps } = this.#parts;
    const empty = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NOTIFICATIONS_STATE } };
    return (await configMaps.get(NOTIFICATIONS_STATE, signal)) ?? configMaps.create(empty, signal);
  }

  /** Telling waits for no write: what a process that dies has not written yet is told again, by the same id. */
  async #keepMemory(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    let failures = 0;
    while (!signal.aborted) {
      if (!this.#isDirty) {
        await this.#wakeup.wait(clock, Infinity, signal);
        continue;
      }
      this.#isDirty = false;
      failures = (await this.#write(failures > 0, signal)) ? 0 : failures + 1;
      const restMs = failures === 0 ? PACE_MS : backoff(failures - 1, { ...PAUSE, random });
      await clock.sleep(restMs, signal).catch(() => undefined);
    }
  }

  /** @param isRepeated the last write failed: somebody may have deleted the ConfigMap */
  async #write(isRepeated: boolean, signal: AbortSignal): Promise<boolean> {
    const waiting = new Map([...this.#tellings].map(([name, { outbox }]) => [name, outbox.waiting]));
    try {
      if (isRepeated) await this.#stored(signal);
      const patch = { data: { [STATE]: written({ told: this.#told, waiting, silences: this.#silencing.made }) } };
      await this.#parts.configMaps.patch(NOTIFICATIONS_STATE, patch, signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      this.#isDirty = true;
      this.#parts.logger.warn('memory of notifications not written', { error });
      return false;
    }
  }
}

/** @param send tries once, and never rejects */
export const notificationsOf = (parts: NotifierParts, send = delivered): Notifier => new Notifications(parts, send);
