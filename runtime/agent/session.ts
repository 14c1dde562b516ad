import type { Caller, NodeAction, ApiAnswer, AgentApi } from '../agentapi/client.ts';
import { DeadlineError, withDeadline } from '../lib/abort.ts';
import type { Clock } from '../lib/clock.ts';
import type { Latest } from '../lib/latest.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { backoff } from '../lib/retry.ts';
import type { AgentStatus } from '../shadow/model.ts';
import type { View } from './decide.ts';
import type { HostUpdater } from './host/port.ts';
import { StepFailedError } from './failure.ts';
import { addsRecord, alreadySaid, inOlderContract } from './status.ts';

/** Times of the agent, milliseconds. */
export interface AgentTimes {
  /** Between the exclusion from load balancers and the drain; 0 = the node is not excluded. */
  readonly lbWaitMs: number;
  /** Between two looks for updates, before jitter. */
  readonly checkIntervalMs: number;
}

export interface SessionPorts {
  readonly nodeName: string;
  readonly host: HostUpdater;
  readonly api: AgentApi;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly times: AgentTimes;
  /** Everything that is known; each step reads it afresh. */
  readonly view: Latest<View>;
  /** @see AgentOptions.isDrained */
  isDrained(signal: AbortSignal): Promise<boolean>;
  /** Reads the Node again, whose UID the apiserver did not accept. */
  identify(signal: AbortSignal): Promise<void>;
}

/** For how long, without a break, the apiserver may fail to act for reasons of its own before the attempt has failed. */
const DRAIN_REFUSED_MS = 120_000;
/** For how long, without a break, the cluster may refuse a status before less is said. */
const REJECTED_MS = 120_000;
/** After this time without news of it a write has changed nothing, or the watch lags. */
const SEEN_BACK_MS = 30_000;
/** What may fail the attempt. A release is never given up: nobody else would uncordon the node. */
const GATES: ReadonlySet<NodeAction> = new Set<NodeAction>(['cordonAndDrain', 'excludeFromLb']);
/** Between two requests for the same. */
const PAUSES = { firstMs: 100, maxMs: 30_000 };

/** What the steps have in common: talking to the apiserver until it has understood. */
export class Session {
  readonly ports: SessionPorts;
  /** On the clock's monotonic scale: when to look for updates next; undefined before the first look. Kept here because steps come and go. */
  nextCheck: number | undefined;
  /** On the clock's monotonic scale: since when the host has been too busy for the work of a step, without a break. */
  busySince: number | undefined;
  /** The version that this agent has seen written into the slot, and nothing go wrong with since. The host forgets what its commands said. */
  prepared: string | undefined;
  /** The image has no tool for updates; said once. */
  unsupported = false;

  constructor(ports: SessionPorts) {
    this.ports = ports;
  }

  get view(): View {
    return this.ports.view.value;
  }

  /**
   * Sends the status that `make` makes of the newest view, until it is accepted, and waits until the watch shows news. Nothing is sent
   * where it is there already. What is not in the shadow after this is something that the cluster does not keep, or refuses: of a status
   * that it takes in no case, the fields of the older contract are sent.
   * @throws StepFailedError (RebootFailed) when the cluster refuses the record of a reboot: without it nothing may reboot
   */
  async report(make: (view: View) => AgentStatus, signal: AbortSignal): Promise<void> {
    const rejection = new Rejection(this.ports);
    let unseen: string | undefined;
    for (let attempt = 0; ; attempt++) {
      const before = this.view;
      const status = rejection.isFinal ? inOlderContract(make(before), before) : make(before);
      const shadowVersion = before.shadow?.metadata.resourceVersion ?? '';
      if (alreadySaid(status, before)) return;
      const answer = await this.ports.api.putStatus(this.#caller(), { status, shadowVersion }, signal);
      if (answer.kind === 'ok') {
        // Accepted twice for the same shadow, so the first write changed nothing. One that a silent watch does not show is refused.
        if (unseen === shadowVersion) return;
        if (await this.#changed(shadowVersion, SEEN_BACK_MS, signal)) return;
        unseen = shadowVersion;
      } else await this.#pause('status not accepted', { answer, attempt, shadowVersion }, signal);
      rejection.note(answer, addsRecord(status, before));
    }
  }

  /** Asks the apiserver to act on the node until it has. @throws StepFailedError (DrainFailed) when a drain has failed for good */
  async act(action: NodeAction, signal: AbortSignal): Promise<void> {
    const { clock, api } = this.ports;
    let failingSince: number | undefined;
    for (let attempt = 0; ; attempt++) {
      const shadowVersion = this.#shadowVersion();
      const asked = clock.monotonic();
      const answer = await api.act(this.#caller(), action, signal);
      if (answer.kind === 'ok') return;
      // An answer that was long in coming was a wait for a drain, and in a pause nobody would wait for it.
      if (clock.monotonic() - asked >= PAUSES.maxMs) attempt = 0;
      failingSince = answer.kind === 'failed' ? (failingSince ?? clock.monotonic()) : undefined;
      const final = failingSince !== undefined && clock.monotonic() - failingSince >= DRAIN_REFUSED_MS;
      if (GATES.has(action) && (final || answer.kind === 'deadline'))
        throw new StepFailedError('DrainFailed', answer.message);
      await this.#pause('request not granted', { answer, attempt, shadowVersion, action }, signal);
    }
  }

  /** Asks for the shadow, until the watch shows it. */
  async createShadow(signal: AbortSignal): Promise<void> {
    for (let attempt = 0; !this.view.shadow; attempt++) {
      const answer = await this.ports.api.createShadow(this.#caller(), signal);
      if (answer.kind === 'ok') return void (await this.#changed('', SEEN_BACK_MS, signal));
      await this.#pause('shadow not created', { answer, attempt, shadowVersion: '' }, signal);
      // Refused: a shadow of an earlier node of this name is still there, or this node itself was replaced.
      if (answer.kind === 'refused') await this.ports.identify(signal);
    }
  }

  #caller(): Caller {
    const { nodeUid, bootId } = this.view;
    return { nodeName: this.ports.nodeName, nodeUid, bootId };
  }

  #shadowVersion(): string {
    return this.view.shadow?.metadata.resourceVersion ?? '';
  }

  /** Before asking again: a while, cut short when the shadow changes, because the answer may then be another. */
  async #pause(message: string, why: Why, signal: AbortSignal): Promise<void> {
    const { random, logger } = this.ports;
    const { answer, attempt, shadowVersion, ...fields } = why;
    const level = answer.kind === 'again' || answer.kind === 'refused' ? 'info' : 'warn';
    logger[level](message, {
      ...fields,
      answer: answer.kind,
      attempt,
      ...('message' in answer && { error: answer.message }),
    });
    if (answer.kind === 'unauthorized') await this.ports.identify(signal);
    const ms = backoff(attempt, { ...PAUSES, random });
    await this.#changed(shadowVersion, ms, signal);
  }

  /** Resolves with true when the shadow's resourceVersion is no longer `shadowVersion`, or with false after `ms`. */
  async #changed(shadowVersion: string, ms: number, signal: AbortSignal): Promise<boolean> {
    const { clock, view } = this.ports;
    try {
      await withDeadline({ clock, ms, signal }, (limited) =>
        view.until(() => this.#shadowVersion() !== shadowVersion, limited),
      );
      return true;
    } catch (error) {
      if (!(error instanceof DeadlineError)) throw error;
      return false;
    }
  }
}

/** What the cluster has said of one status, again and again. */
class Rejection {
  /** It is refused for good: less has to be said. */
  isFinal = false;
  readonly #ports: SessionPorts;
  #since: number | undefined;

  constructor(ports: SessionPorts) {
    this.#ports = ports;
  }

  /** @throws StepFailedError (RebootFailed) */
  note(answer: ApiAnswer, isRecord: boolean): void {
    const { clock, logger } = this.#ports;
    if (answer.kind !== 'rejected') return void (this.#since = undefined);
    this.#since ??= clock.monotonic();
    if (this.isFinal || clock.monotonic() - this.#since < REJECTED_MS) return;
    if (isRecord) throw new StepFailedError('RebootFailed', `the cluster refuses the record of it: ${answer.message}`);
    logger.warn('the cluster refuses the status: only what the older contract has is said', { error: answer.message });
    this.isFinal = true;
  }
}

interface Why {
  readonly answer: ApiAnswer;
  readonly attempt: number;
  readonly shadowVersion: string;
  readonly action?: NodeAction;
}
