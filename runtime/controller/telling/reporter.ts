import type { EventBroadcaster } from '../../kube/event-broadcaster.ts';
import type { ObjectReference } from '../../kube/objects.ts';
import { type Clock, HOUR_MS } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { diff, hasLanded, topicOf, type Planned, type Statement } from './statements.ts';
import { commandCarriedOut, type SentCommand, isOfUpdate, permitsUnreadable, workloadsNotBack } from './events.ts';
import type { ControllerMetrics } from './metrics.ts';
import type { Notifier } from './notifier.ts';
import type { Command } from '../plan/facts/commands.ts';
import type { ShadowView } from '../plan/facts/snapshot.ts';
import { notifiedOf, statementsOf } from './plan-statements.ts';

interface ReporterOptions {
  readonly events: Pick<EventBroadcaster, 'record' | 'recordNow'>;
  /** Notifies people besides. @default there are Events alone */
  readonly notifier?: Pick<Notifier, 'observe'> | undefined;
  readonly metrics: ControllerMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** The operator's own. */
  readonly namespace: string;
  /** How long a node may be without an agent before people are told, milliseconds. */
  readonly agentTimeoutMs: number;
}

/** Tells people what happens: by Events, the log and counters. It never waits for an answer, so that it does not delay the controller. */
export class Reporter {
  readonly #options: ReporterOptions;
  /** The statements of the last plan. People were told of them, or are being told. */
  #told = new Map<string, Statement>();
  /** Commands whose write has had no answer, by name of the shadow. */
  readonly #unanswered = new Map<string, SentCommand>();

  /** Until when nobody is told again that the list of permits cannot be read, monotonic. */
  #unreadableUntil = -Infinity;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** @param shadow as the command was decided on */
  carriedOut(command: Command, shadow: ShadowView): void {
    if (!isOfUpdate(command)) return;
    this.#unanswered.delete(shadow.name);
    this.#carriedOut({ command, shadow });
  }

  /** It is not known yet whether the command was carried out. A later plan will show it. */
  unanswered(command: Command, shadow: ShadowView): void {
    if (isOfUpdate(command)) this.#unanswered.set(shadow.name, { command, shadow });
  }

  /** The list of permits was overwritten. It is told again each hour: an Event lasts no longer. @param lease the controller's */
  permitsUnreadable(lease: ObjectReference, error: Error): void {
    const { events, clock, metrics } = this.#options;
    const now = clock.monotonic();
    metrics.permitsRead(false);
    if (now < this.#unreadableUntil) return;
    this.#unreadableUntil = now + HOUR_MS;
    void events.record(permitsUnreadable(lease, error));
  }

  permitsReadable(): void {
    this.#options.metrics.permitsRead(true);
    this.#unreadableUntil = -Infinity;
  }

  /** To be called before the plan is carried out, so that a warning comes before the update that it is about. */
  report(made: Omit<Planned, 'namespace' | 'missedSince'>): void {
    const { namespace, clock, agentTimeoutMs, notifier } = this.#options;
    const planned = { ...made, namespace, missedSince: clock.now() - agentTimeoutMs };
    for (const [name, sent] of this.#unanswered) {
      const landed = hasLanded(sent, planned);
      if (landed !== undefined) this.#unanswered.delete(name);
      if (landed) this.#carriedOut(sent);
    }
    const before = this.#told;
    const after = new Map([...(notifier ? notifiedOf(planned, before) : []), ...statementsOf(planned, before)]);
    this.#told = new Map(after);
    notifier?.observe(after, planned);
    for (const statement of diff(before, after)) void this.#tell(statement, before.get(topicOf(statement)));
  }

  /** @param before what was said of the same thing; it is restored where the API server does not take the Event */
  async #tell(statement: Statement, before: Statement | undefined): Promise<void> {
    const { events, metrics } = this.#options;
    const { kind, event, isRecorded, isRepeated } = statement;
    if (!isRecorded) return;
    if (kind === 'setback') metrics.setBack(statement.value);
    const isWritten = await (kind === 'setback' || kind === 'agent' ? events.record(event) : events.recordNow(event));
    if (isWritten || !isRepeated) return;
    if (before) this.#told.set(topicOf(before), before);
    else this.#told.delete(topicOf(statement));
  }

  #carriedOut(sent: SentCommand): void {
    const { events, metrics, logger, clock, namespace } = this.#options;
    const { command, shadow } = sent;
    const now = clock.now();
    metrics.carriedOut(command, shadow, now);
    const left = workloadsNotBack(sent, namespace);
    if (left) metrics.leftBehind();
    for (const event of [left, commandCarriedOut(sent, namespace, now)]) {
      if (!event) continue;
      logger.info('update', { reason: event.reason, shadow: shadow.name, note: event.message });
      void events.record(event);
    }
  }
}
