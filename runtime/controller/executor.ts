import { ConflictError, NotFoundError } from '../kube/errors.ts';
import type { Fields, Logger } from '../lib/log.ts';
import { inParallel } from '../lib/parallel.ts';
import { adopt } from './actions/adoption.ts';
import { type ActionPorts, writeSpec } from './actions/ports.ts';
import { disown, release, rescue } from './actions/recovery.ts';
import { bump, mayFree } from './actions/slots.ts';
import type { Chronicle } from './chronicle.ts';
import type { Command, Free, SetCondition, Start } from './plan/commands.ts';
import type { ShadowView } from './plan/snapshot.ts';
import type { SlotKey } from './slots/entries.ts';
import { NotLeadingError, SlotsMovedError } from './slots/ledger.ts';

/** API requests that are under way at once. */
const AT_ONCE = 10;

export interface ExecutorOptions {
  readonly ports: ActionPorts;
  readonly chronicle: Chronicle;
  readonly logger: Logger;
}

export interface Results {
  /** Something changed that no cache shows: a slot, or what is known of it. */
  readonly slotsChanged: boolean;
  /** Commands that met another world than the one they were decided on, or an API that is out. */
  readonly refused: number;
}

type Outcomes = Promise<readonly boolean[]>;
type Single = Exclude<Command, Start | Free | SetCondition>;

/** Carries out the commands of a plan, conditions apart. It decides nothing: what does not go as planned is planned again. */
export class Executor {
  readonly #ports: ActionPorts;
  readonly #chronicle: Chronicle;
  readonly #logger: Logger;

  constructor({ ports, chronicle, logger }: ExecutorOptions) {
    this.#ports = ports;
    this.#chronicle = chronicle;
    this.#logger = logger;
  }

  /** @param shadows by name, as the commands were decided on @throws NotLeadingError */
  async carryOut(
    commands: readonly Command[],
    shadows: ReadonlyMap<string, ShadowView>,
    signal: AbortSignal,
  ): Promise<Results> {
    const run = { shadows, signal };
    const starts = commands.filter((command) => command.kind === 'start');
    const frees = commands.filter((command) => command.kind === 'free');
    const singles = commands.filter((command): command is Single => !BATCHED.has(command.kind));
    const [single, started, freed] = await Promise.all([
      this.#each(singles, run, (command) => this.#single(command, signal)),
      ...this.#slots(starts, frees, run),
    ]);
    const bumped = singles.some(({ kind }, index) => kind === 'bump' && single[index]);
    const refused = [single, started, freed].flat().filter((done) => !done).length;
    return { slotsChanged: bumped || freed.includes(true), refused };
  }

  /** One after the other: each swap is made on the slots that the one before it left. */
  #slots(starts: readonly Start[], frees: readonly Free[], run: Run): [Outcomes, Outcomes] {
    const started = this.#start(starts, run);
    return [started, started.then(() => this.#free(frees, run))];
  }

  /** Rule L1: the plan has read the shadows, the swap comes next, then the specs. */
  async #start(starts: readonly Start[], run: Run): Outcomes {
    if (!(await this.#swap('take', starts, run))) return [false];
    return this.#each(starts, run, (start) => this.#write(start, run.signal));
  }

  /** Rule L3: the node says first that its slot is given back, then the Lease. */
  async #free(frees: readonly Free[], run: Run): Outcomes {
    const ready = await this.#each(frees, run, (free) => mayFree(this.#ports, free, run.signal));
    const swapped = await this.#swap(
      'free',
      frees.filter((_, index) => ready[index]),
      run,
    );
    return swapped ? ready : [false];
  }

  async #swap(change: 'take' | 'free', slots: readonly SlotKey[], { signal }: Run): Promise<boolean> {
    if (slots.length === 0) return true;
    return this.#attempt({ swap: change, slots: slots.length }, signal, async () => {
      await this.#ports.ledger[change](slots, signal);
      return true;
    });
  }

  #each<C extends Command>(commands: readonly C[], run: Run, work: (command: C) => Promise<boolean>): Outcomes {
    return inParallel(commands, AT_ONCE, async (command) => {
      const target = 'shadow' in command ? { shadow: command.shadow } : { node: command.node };
      const done = await this.#attempt({ command: command.kind, ...target }, run.signal, () => work(command));
      if (done) this.#chronicle.carriedOut(command, 'shadow' in command ? run.shadows.get(command.shadow) : undefined);
      return done;
    });
  }

  async #single(command: Single, signal: AbortSignal): Promise<boolean> {
    const ports = this.#ports;
    if (command.kind === 'set-spec') return this.#write(command, signal);
    if (command.kind === 'bump') return bump(ports, command, signal);
    if (command.kind === 'release') return release(ports, command.node, signal);
    if (command.kind === 'rescue') return rescue(ports, command.node, signal);
    if (command.kind === 'disown') return disown(ports, command.node, signal);
    if (command.kind === 'adopt') return adopt(ports, command.node, signal);
    const { shadow, uid, resourceVersion } = command;
    await ports.shadows.delete(shadow, { uid, resourceVersion }, signal);
    return true;
  }

  /** A write of unknown outcome may land later, so the slot of its shadow is in doubt until a bump. */
  async #write(command: Extract<Command, { spec: unknown }>, signal: AbortSignal): Promise<true> {
    try {
      await writeSpec(this.#ports, command, signal);
      return true;
    } catch (error) {
      if (error instanceof ConflictError || error instanceof NotFoundError) throw error;
      this.#ports.ledger.doubt(command.shadow);
      throw error;
    }
  }

  async #attempt(what: Fields, signal: AbortSignal, work: () => Promise<boolean>): Promise<boolean> {
    try {
      const done = await work();
      this.#logger.debug(done ? 'carried out' : 'found another world', what);
      return done;
    } catch (error) {
      if (error instanceof NotLeadingError || signal.aborted) throw error;
      const moved = MOVED.some((kind) => error instanceof kind);
      if (moved) this.#logger.debug('found another world', { ...what, error });
      else this.#logger.warn('command failed', { ...what, error });
      return false;
    }
  }
}

interface Run {
  readonly shadows: ReadonlyMap<string, ShadowView>;
  readonly signal: AbortSignal;
}

/** Errors by which the cluster says that a plan was made on what is no more. */
const MOVED = [ConflictError, NotFoundError, SlotsMovedError];
/** Commands that are carried out together, or elsewhere. */
const BATCHED: ReadonlySet<Command['kind']> = new Set(['start', 'free', 'set-condition']);
