import type { AgentApi, ApiAnswer, Caller, NodeAction, StatusPut } from './client.ts';
import type { Basics } from '../../lib/basics.ts';
import { DeadlineError, withDeadline } from '../../lib/abort.ts';
import type { Latest } from '../../lib/latest.ts';
import type { Fields } from '../../lib/log.ts';
import { backoff, Streak } from '../../lib/retry.ts';
import type { AgentStatus } from '../../api/shadow/model.ts';
import type { View } from '../decide.ts';
import { StepFailedError } from '../failure.ts';
import { addsRecord, alreadySaid, currentStatus, reductions, withRecordOf } from '../status.ts';

interface RetryingClientOptions extends Basics {
  readonly nodeName: string;
  readonly api: AgentApi;
  readonly view: Latest<View>;
  /** The UID of this agent's Node, live. */
  readonly readUid: () => Promise<string>;
}

/** For how long, without a break, the apiserver may fail to act for reasons of its own before the attempt has failed. */
const ACTION_FAILS_MS = 120_000;
/** For how long, without a break, the cluster may refuse a status before a reduced one is sent. */
const REJECTED_MS = 120_000;
/** How often a shadow is made anew that is deleted each time. */
const REMADE_MS = 10_000;
/** When the watch shows nothing for this long, the write has changed nothing or the watch lags. */
const SEEN_BACK_MS = 30_000;
/** Actions that may fail the attempt. A release is never given up, because nobody else would uncordon the node. */
const GATES: ReadonlySet<NodeAction> = new Set<NodeAction>(['cordonAndDrain', 'excludeFromLb']);
/** For how long, without a break, a request may not be accepted as the agent's before the agent ends, so that its pod says why. */
const UNAUTHORIZED_MS = 300_000;
/** Pause between two requests for the same thing. */
const PAUSES = { firstMs: 100, maxMs: 30_000 };
/** While the node is disturbed, or about to be, the first pauses are shorter: some five minutes of them. */
const WAIT = { maxMs: 10_000, attempts: 30 };

/** The apiserver does not accept the agent, in its own words. */
export class NotAcceptedError extends Error {
  override readonly name = 'NotAcceptedError';
}

/** Repeats a request until the apiserver grants it. Only a newer decision, or the end of the agent, stops that. */
export class RetryingClient {
  readonly #options: RetryingClientOptions;
  /** When a shadow was last created, by the monotonic clock. */
  #createdAt = -Infinity;
  /** For how long the cluster has refused a whole status, and one without the record of its failure. */
  readonly #refused: readonly Streak[];
  /** The last status that the cluster refused and got reduced. Its record is told as soon as the cluster takes it. */
  #withheld: AgentStatus | undefined;

  constructor(options: RetryingClientOptions) {
    this.#options = options;
    this.#refused = [0, 1].map(() => new Streak(options.clock));
  }

  /**
   * Makes a status from the newest view and sends it until it is accepted. Then waits until the watch shows a newer shadow. Nothing is sent
   * where the shadow has this status already. A status that the cluster refuses for good is reduced, and sent whole again with the next report.
   * So a field that the shadow lacks afterwards is one that the cluster drops or refuses.
   * @throws StepFailedError (RebootFailed) when the cluster refuses the record of a reboot alone: without a record nothing may reboot
   */
  async report(make: (view: View) => AgentStatus, signal: AbortSignal): Promise<void> {
    const { api, logger, view } = this.#options;
    let reduced = 0;
    let unseen: string | undefined;
    await this.#insist({ signal, logged: 'status not accepted' }, async (shadowVersion) => {
      const before = view.value;
      const [whole, ...rest] = reductions(withRecordOf(make(before), this.#withheld), before);
      const step = Math.min(reduced, rest.length);
      const status = rest[step - 1] ?? whole;
      if (alreadySaid(status, before)) return 'done';
      const answer = await api.putStatus(this.#caller(), { status, ...this.#seen() }, signal);
      const refusedMs = this.#refused[step]?.note(answer.kind === 'rejected') ?? 0;
      if (answer.kind === 'ok') {
        if (step === 0) this.#withheld = undefined;
        const isSeen = await this.#seenBack(shadowVersion, unseen, signal);
        unseen = shadowVersion;
        return isSeen ? 'done' : 'again';
      }
      if (refusedMs < REJECTED_MS) return answer;
      if (step === rest.length) return this.#irreducible(addsRecord(status, before), answer, signal);
      logger.warn('the cluster refuses the status: less is said', { error: answer.message });
      this.#withheld = whole;
      reduced = step + 1;
      return 'again';
    });
  }

  /** Sends the status once, whatever the answer: what follows does not wait for it. */
  async tell(make: (view: View) => AgentStatus, signal: AbortSignal): Promise<void> {
    const { api, view } = this.#options;
    const status = make(view.value);
    if (alreadySaid(status, view.value)) return;
    await api.putStatus(this.#caller(), { status, ...this.#seen() }, signal);
  }

  /** Asks once, whatever the answer: an older apiserver knows of no such thing. */
  async tryTo(action: NodeAction, signal: AbortSignal): Promise<void> {
    await this.#options.api.act(this.#caller(), action, signal);
  }

  /** Asks the apiserver to act on the node until it has. @throws StepFailedError (DrainFailed) when a drain has failed for good */
  async act(action: NodeAction, signal: AbortSignal): Promise<void> {
    const { clock, api } = this.#options;
    const failing = new Streak(clock);
    await this.#insist({ signal, logged: 'request not granted', fields: { action }, isWait: true }, async () => {
      const answer = await api.act(this.#caller(), action, signal);
      if (answer.kind === 'ok') return 'done';
      const isFinal = failing.note(answer.kind === 'failed') >= ACTION_FAILS_MS || answer.kind === 'deadline';
      if (GATES.has(action) && isFinal) throw new StepFailedError('DrainFailed', answer.message);
      return answer;
    });
  }

  /**
   * Asks for the shadow, and waits a while until the watch shows it. One that was deleted right after it was made waits: the controller deletes
   * those of nodes that are no longer managed, and it may take long until such a node's agent is stopped.
   */
  async createShadow(signal: AbortSignal): Promise<void> {
    const { api, view, clock } = this.#options;
    const pauseMs = this.#createdAt + REMADE_MS - clock.monotonic();
    if (pauseMs > 0) await this.#changed('', pauseMs, signal);
    await this.#insist({ signal, logged: 'shadow not created' }, async () => {
      if (view.value.shadow) return 'done';
      const before = this.#createdAt;
      // The watch may show it before the answer comes, and whoever waits for that is ended then.
      this.#createdAt = clock.monotonic();
      const answer = await api.createShadow(this.#caller(), signal);
      // The shadow of an earlier node of this name is still there, or this node itself was replaced.
      if (answer.kind === 'refused') await this.identify();
      if (answer.kind !== 'ok') {
        this.#createdAt = before;
        return answer;
      }
      await this.#changed('', SEEN_BACK_MS, signal);
      return 'done';
    });
  }

  /** Reads the Node again, because its UID may be another one by now. */
  async identify(): Promise<void> {
    const { view, readUid } = this.#options;
    const nodeUid = await readUid().catch(() => view.value.nodeUid);
    if (nodeUid !== view.value.nodeUid) view.set({ ...view.value, nodeUid });
  }

  /**
   * Repeats `ask` until it is done. A pause ends early when the shadow changes, because the answer may then be another.
   * @throws NotAcceptedError
   */
  async #insist(topic: Topic, ask: (shadowVersion: string) => Promise<NotGranted | 'done' | 'again'>): Promise<void> {
    const { clock, random, logger } = this.#options;
    const { logged, fields, signal, isWait = false } = topic;
    const unaccepted = new Streak(clock);
    for (let attempt = 0; ; attempt++) {
      const shadowVersion = this.#shadowVersion();
      const asked = clock.monotonic();
      const answer = await ask(shadowVersion);
      if (answer === 'done') return;
      if (answer === 'again') continue;
      if (isWait && clock.monotonic() - asked >= PAUSES.maxMs) attempt = 0;
      const { kind, message: error } = answer;
      const level = kind === 'again' || kind === 'refused' ? 'info' : 'warn';
      logger[level](logged, { ...fields, answer: kind, attempt, error });
      expectAccepted(unaccepted, answer);
      if (kind === 'unauthorized') await this.identify();
      await this.#changed(shadowVersion, backoff(attempt, { ...pausesOf(topic, attempt), random }), signal);
    }
  }

  /**
   * Whether an accepted status shows, or never will: accepted twice for the same shadow, the first write changed nothing. If only the watch
   * were late, the second write would have been refused.
   */
  async #seenBack(shadowVersion: string, unseen: string | undefined, signal: AbortSignal): Promise<boolean> {
    return unseen === shadowVersion || this.#changed(shadowVersion, SEEN_BACK_MS, signal);
  }

  /**
   * Throws where the cluster refuses the record of a reboot, and takes other statuses. Where it takes none, no failure could be told either, and the
   * node waits as it is.
   * @throws StepFailedError (RebootFailed)
   */
  async #irreducible(addsReboot: boolean, answer: NotGranted, signal: AbortSignal): Promise<NotGranted> {
    if (!addsReboot) return answer;
    const { api, view } = this.#options;
    const put = { status: { ...currentStatus(view.value), reboot: null }, ...this.#seen() };
    const { kind } = await api.putStatus(this.#caller(), put, signal);
    if (kind !== 'ok') return answer;
    throw new StepFailedError('RebootFailed', `the cluster refuses the record of it: ${answer.message}`);
  }

  #caller(): Caller {
    const { nodeUid, bootId } = this.#options.view.value;
    return { nodeName: this.#options.nodeName, nodeUid, bootId };
  }

  #seen(): Omit<StatusPut, 'status'> {
    const shadowState = this.#options.view.value.shadow?.status?.current_state;
    return { shadowVersion: this.#shadowVersion(), shadowState };
  }

  #shadowVersion(): string {
    return this.#options.view.value.shadow?.metadata.resourceVersion ?? '';
  }

  /** Resolves with true when the shadow's resourceVersion is no longer `shadowVersion`, or with false after `ms`. */
  async #changed(shadowVersion: string, ms: number, signal: AbortSignal): Promise<boolean> {
    const { clock, view } = this.#options;
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

/** @param unaccepted for how long it is so @throws NotAcceptedError */
function expectAccepted(unaccepted: Streak, { kind, message }: NotGranted): void {
  if (unaccepted.note(kind === 'unauthorized') >= UNAUTHORIZED_MS)
    throw new NotAcceptedError(`the apiserver does not accept this agent: ${message}`);
}

const pausesOf = ({ isWait = false }: Topic, attempt: number): typeof PAUSES =>
  isWait && attempt < WAIT.attempts ? { ...PAUSES, maxMs: WAIT.maxMs } : PAUSES;

type NotGranted = Exclude<ApiAnswer, { readonly kind: 'ok' }>;

interface Topic {
  /** What the log says when it is not granted. */
  readonly logged: string;
  readonly fields?: Fields;
  /**
   * A slow answer was itself a wait, mostly for a drain. The next request then follows soon, because nobody waits for the drain during a
   * pause.
   */
  readonly isWait?: boolean;
  readonly signal: AbortSignal;
}
