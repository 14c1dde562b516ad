import { belongsTo } from '../../api/shadow/owner.ts';
import { shadowName } from '../../api/shadow/names.ts';
import { readMarks } from '../../api/marks/marks.ts';
import { type Clock, momentOf } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import { inParallel } from '../../lib/parallel.ts';
import type { Random } from '../../lib/random.ts';
import { backoff } from '../../lib/retry.ts';
import { bumpShadow, markReleased } from '../writing/actions/fencing.ts';
import type { ActionPorts } from '../writing/actions/ports.ts';
import type { Freshness } from '../seeing/freshness.ts';
import type { NodeView } from '../plan/facts/snapshot.ts';
import type { Planner } from '../deciding/planner.ts';
import { NotLeadingError } from './ledger.ts';
import { takeoversIn } from './takeovers.ts';

/** At most 50 nodes a second, each with two reads and two writes at most. */
const AT_ONCE = 10;
const REST_MS = 200;
/** After what is refused, or not answered. */
const RETRY = { firstMs: 1000, maxMs: 60_000 };

interface RemakingOptions {
  readonly ports: ActionPorts;
  readonly planner: Pick<Planner, 'look'>;
  readonly freshness: Pick<Freshness, 'lost'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/**
 * Makes the list of permits where a term has found none (rule L12). Writes of earlier leaders, and marks of drains that they allowed, may still be
 * on their way. So every shadow and Node is written once, except those of updates that go on: what was decided on an older version is a conflict.
 */
export class Remaking {
  readonly #options: RemakingOptions;

  constructor(options: RemakingOptions) {
    this.#options = options;
  }

  /** Tries until it is done, or the signal aborts. @throws as `PermitLedger.make` */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, freshness, planner, ports, logger } = this.#options;
    while (freshness.lost !== undefined && !signal.aborted) await this.#rest(RETRY.firstMs, signal);
    const { nodes, shadows } = planner.look(momentOf(clock));
    const known = new Set(nodes.map((node) => node.shadowName));
    const strays = shadows.filter(({ name }) => !known.has(name));
    logger.info('there is no list of permits: it is made anew', { nodes: nodes.length });
    await inParallel(strays, AT_ONCE, ({ name }) => this.#until(signal, () => bumpShadow(ports, name, signal)));
    const found = await inParallel(nodes, AT_ONCE, (node) => this.#until(signal, () => this.#settle(node, signal)));
    const busy = new Set(found.flatMap((uid) => uid ?? []));
    if (signal.aborted) return;
    const takings = takeoversIn(planner.look(momentOf(clock)), busy);
    await this.#until(signal, () => ports.permitLedger.make(takings, signal));
  }

  /** @returns the node's UID where an update may be under way on it */
  async #settle({ name, uid, managed, marks }: NodeView, signal: AbortSignal): Promise<string | undefined> {
    const { ports } = this.#options;
    const shadow = await bumpShadow(ports, shadowName(name), signal);
    const state = shadow && belongsTo(shadow, uid) ? shadow.spec.state : 'Idle';
    const hasBegun = state === 'Idle' ? undefined : uid;
    if (!managed && !marks) return hasBegun;
    const node = await ports.nodes.get(name, signal);
    if (node?.metadata.uid !== uid) return undefined;
    if (readMarks(node)) return uid;
    if (state !== 'RebootedIntoUpdate') await markReleased(ports, node, signal);
    return hasBegun;
  }

  async #until<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
    const { logger, random } = this.#options;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const result = await work();
        await this.#rest(REST_MS, signal);
        return result;
      } catch (error) {
        if (error instanceof NotLeadingError) throw error;
        if (!signal.aborted) logger.warn('the list of permits is not made yet', { error });
        await this.#rest(backoff(failures, { ...RETRY, random }), signal);
      }
    }
    return undefined;
  }

  #rest(ms: number, signal: AbortSignal): Promise<void> {
    return this.#options.clock.sleep(ms, signal).catch(() => undefined);
  }
}
