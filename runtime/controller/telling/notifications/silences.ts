import type { Basics } from '../../../lib/basics.ts';
import { backoff } from '../../../lib/retry.ts';
import { Wakeup } from '../../../lib/wakeup.ts';
import type { NotificationMetrics } from '../notification-metrics.ts';
import type { Disturbed } from './disturbed.ts';

/** A silence that was made, or that Alertmanager has refused to make and is not asked for again. */
interface Silenced {
  /** By Alertmanager; absent where it has refused. */
  readonly id?: string;
  /** When it ends by itself, milliseconds since the Unix epoch. */
  readonly endsAt: number;
}

/** By UID of the node. */
export type SilencedNodes = ReadonlyMap<string, Silenced>;

/** What came of a request. */
export type SilenceOutcome =
  { readonly kind: 'done'; readonly id?: string } | { readonly kind: 'refused' | 'later'; readonly why: string };

interface SilencesOptions extends Basics {
  /** Of the Alertmanager. */
  readonly name: string;
  readonly durationMs: () => number;
  /** Each tries once, and never rejects. */
  readonly create: (node: string, signal: AbortSignal) => Promise<SilenceOutcome>;
  readonly expire: (id: string, signal: AbortSignal) => Promise<SilenceOutcome>;
  /** Called after `made` has changed. */
  readonly onChange: () => void;
  readonly metrics: Pick<NotificationMetrics, 'silenced'>;
}

const PAUSE = { firstMs: 1000, maxMs: 60_000 };

/** Silences around reboots at one Alertmanager. No update waits for them. */
export class Silences {
  readonly #options: SilencesOptions;
  readonly #wakeup = new Wakeup();
  readonly #made: Map<string, Silenced>;
  /** Requests that will be tried again, by UID of the node. `dueAt` is monotonic. */
  readonly #failed = new Map<string, { readonly failures: number; readonly dueAt: number }>();
  /** Undefined before the first plan of this term. */
  #disturbed: Disturbed | undefined;

  /** @param made by an earlier process */
  constructor(options: SilencesOptions, made: SilencedNodes) {
    this.#options = options;
    this.#made = new Map(made);
  }

  get made(): SilencedNodes {
    return this.#made;
  }

  observe(disturbed: Disturbed): void {
    this.#disturbed = disturbed;
    this.#wakeup.ring();
  }

  /** Works until the signal aborts. Silences that stand then stay. They end by themselves, unless the next leader ends them before. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      if (this.#disturbed) await this.#round(this.#disturbed, signal);
      const dueAt = [...this.#failed.values()].reduce((least, { dueAt: at }) => Math.min(least, at), Infinity);
      await this.#wakeup.wait(clock, clock.now() + dueAt - clock.monotonic(), signal);
    }
  }

  async #round(disturbed: Disturbed, signal: AbortSignal): Promise<void> {
    const requests = new Map<string, () => Promise<boolean>>();
    for (const [uid, silenced] of this.#made)
      if (disturbed.isOver(uid)) requests.set(uid, () => this.#end(uid, silenced, signal));
    for (const [uid, node] of disturbed.begun)
      if (this.#needs(uid, disturbed)) requests.set(uid, () => this.#begin(uid, node, signal));
    for (const uid of this.#failed.keys()) if (!requests.has(uid)) this.#failed.delete(uid);
    for (const [uid, request] of requests) if (!signal.aborted) await this.#attempt(uid, request);
  }

  /** A drain may outlast a silence, so a new one is made before less than half of it is left for the reboot. */
  #needs(uid: string, { draining }: Disturbed): boolean {
    const { clock, durationMs } = this.#options;
    const made = this.#made.get(uid);
    return made === undefined || (draining.has(uid) && made.endsAt - clock.now() < durationMs() / 2);
  }

  /** After a failure the node pauses before the next attempt. Other nodes do not. */
  async #attempt(uid: string, request: () => Promise<boolean>): Promise<void> {
    const { clock, random } = this.#options;
    const { failures, dueAt } = this.#failed.get(uid) ?? { failures: 0, dueAt: -Infinity };
    if (clock.monotonic() < dueAt) return;
    const isOver = await request();
    const pauseMs = backoff(failures, { ...PAUSE, random });
    if (isOver) this.#failed.delete(uid);
    else this.#failed.set(uid, { failures: failures + 1, dueAt: clock.monotonic() + pauseMs });
  }

  /** @returns whether it is not to be tried again */
  async #begin(uid: string, node: string, signal: AbortSignal): Promise<boolean> {
    const { create, expire, durationMs, clock, onChange } = this.#options;
    const endsAt = clock.now() + durationMs();
    const result = await create(node, signal);
    if (signal.aborted && result.kind !== 'done') return true;
    this.#say(result, 'created', node);
    if (result.kind === 'later') return false;
    const id = result.kind === 'done' ? result.id : undefined;
    const before = this.#made.get(uid);
    this.#made.set(uid, id === undefined ? { endsAt } : { id, endsAt });
    onChange();
    // The old silence would end soon by itself, so one attempt to end it is enough.
    if (id !== undefined && before?.id !== undefined) this.#say(await expire(before.id, signal), 'expired');
    return true;
  }

  /** @returns whether it is not to be tried again */
  async #end(uid: string, { id, endsAt }: Silenced, signal: AbortSignal): Promise<boolean> {
    const { expire, clock, onChange } = this.#options;
    const isStanding = id !== undefined && clock.now() < endsAt;
    const result = isStanding ? await expire(id, signal) : undefined;
    if (signal.aborted) return true;
    if (result) this.#say(result, 'expired');
    if (result?.kind === 'later') return false;
    this.#made.delete(uid);
    onChange();
    return true;
  }

  #say(result: SilenceOutcome, done: 'created' | 'expired', node?: string): void {
    const { name, logger, metrics } = this.#options;
    metrics.silenced(name, result.kind === 'done' ? done : 'failed');
    if (result.kind === 'done') return;
    const message = done === 'created' ? 'silence not made' : 'silence not ended';
    logger.warn(message, { alertmanager: name, node, why: result.why });
  }
}
