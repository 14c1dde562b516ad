import { withDeadline } from '../../../lib/abort.ts';
import { rfc3339 } from '../../../lib/clock.ts';
import { backoff } from '../../../lib/retry.ts';
import { Wakeup } from '../../../lib/wakeup.ts';
import { NOTIFICATIONS_STATE } from '../../../api/notifications/names.ts';
import type { ConfigMap } from '../../../kube/objects.ts';
import type { NotifierParts } from '../notifier.ts';
import type { Memory } from './memory.ts';
import { read, written } from './stored.ts';

/** Keys of the ConfigMap: what is remembered, and who leads since when. */
const STATE = 'state.json';
const LEADER = 'leader';
/** It is written once in this time at most. */
const PACE_MS = 1000;
/** After a request to the API server that failed. */
const PAUSE = { firstMs: PACE_MS, maxMs: 300_000 };
/** Within this time a process that leads no more has learned that. */
const TERM_ENDS_MS = 15_000;
/** How long the last write of a term may take. */
const FLUSH_MS = 2000;

/** The memory as it was when a term began. */
interface Recalled {
  /** Of the ConfigMap. */
  readonly uid: string;
  readonly memory: Memory;
}

/**
 * The ConfigMap that remembers. A leader writes its name there as its term begins. Each write takes effect only on the version that its writer
 * last read or wrote, so that a write that arrives after its term undoes nothing.
 */
export class StateStore {
  readonly #parts: NotifierParts;
  readonly #contents: () => Memory;
  readonly #wakeup = new Wakeup();
  #isDirty = false;
  #leader = '';
  /** The resourceVersion that the next write takes effect on; undefined while that is not known. */
  #version: string | undefined;

  /** @param contents what has to be remembered now */
  constructor(parts: NotifierParts, contents: () => Memory) {
    this.#parts = parts;
    this.#contents = contents;
  }

  /** To be called when there is something new to remember. */
  note(): void {
    this.#isDirty = true;
    this.#wakeup.ring();
  }

  /** To be called when the ConfigMap was deleted: the next write creates it again. */
  noteDeletion(): void {
    this.#version = undefined;
    this.note();
  }

  /** Begins a term. @returns undefined once the signal has aborted */
  async recall(signal: AbortSignal): Promise<Recalled | undefined> {
    const { clock, random, logger, identity } = this.#parts;
    this.#isDirty = false;
    this.#leader = `${identity} since ${rfc3339(clock.now(), { millis: true })}`;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const { metadata } = await this.#stored(signal);
        // The answer to the patch counts, not what was read before it: after the patch no other leader can write.
        const { metadata: now, data } = await this.#patch(metadata.resourceVersion, {}, signal);
        return { uid: now.uid, memory: read(data?.[STATE]) };
      } catch (error) {
        if (signal.aborted) break;
        logger.warn('memory of notifications not read', { error });
        await clock.sleep(backoff(failures, { ...PAUSE, random }), signal).catch(() => undefined);
      }
    }
    return undefined;
  }

  /** Writes in the background until the signal aborts. What a dying process has not written yet is told again, by the same id. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    let failures = 0;
    while (!signal.aborted) {
      if (!this.#isDirty) {
        await this.#wakeup.wait(clock, Infinity, signal);
        continue;
      }
      failures = (await this.#write(signal)) ? 0 : failures + 1;
      const restMs = failures === 0 ? PACE_MS : backoff(failures - 1, { ...PAUSE, random });
      await clock.sleep(restMs, signal).catch(() => undefined);
    }
  }

  /** Ends a term: what is not written yet is tried once. */
  async flush(): Promise<void> {
    if (this.#isDirty) await withDeadline({ clock: this.#parts.clock, ms: FLUSH_MS }, (signal) => this.#write(signal));
  }

  async #write(signal: AbortSignal): Promise<boolean> {
    this.#isDirty = false;
    try {
      const version = this.#version ?? (await this.#look(signal));
      // If this fails, it is not known what the ConfigMap says.
      this.#version = undefined;
      await this.#patch(version, { [STATE]: written(this.#contents()) }, signal);
      return true;
    } catch (error) {
      this.#isDirty = true;
      if (!signal.aborted) this.#parts.logger.warn('memory of notifications not written', { error });
      return false;
    }
  }

  /** Where another leader's name is there, this process waits for as long as it may take to learn that it leads no more. */
  async #look(signal: AbortSignal): Promise<string | undefined> {
    const { metadata, data } = await this.#stored(signal);
    if (data?.[LEADER] !== this.#leader) await this.#parts.clock.sleep(TERM_ENDS_MS, signal);
    return metadata.resourceVersion;
  }

  async #stored(signal: AbortSignal): Promise<ConfigMap> {
    const { configMaps } = this.#parts;
    const data = { [LEADER]: this.#leader };
    const empty = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: NOTIFICATIONS_STATE }, data };
    return (await configMaps.get(NOTIFICATIONS_STATE, signal)) ?? configMaps.create(empty, signal);
  }

  async #patch(resourceVersion: string | undefined, data: object, signal: AbortSignal): Promise<ConfigMap> {
    const patch = { metadata: { resourceVersion }, data: { [LEADER]: this.#leader, ...data } };
    const now = await this.#parts.configMaps.patch(NOTIFICATIONS_STATE, patch, signal);
    this.#version = now.metadata.resourceVersion;
    return now;
  }
}
