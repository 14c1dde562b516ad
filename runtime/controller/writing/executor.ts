import { isDefinite } from '../../kube/errors.ts';
import type { Fields, Logger } from '../../lib/log.ts';
import { inParallel } from '../../lib/parallel.ts';
import { type ActionPorts, isMoved, type Outcome } from './actions/ports.ts';
import { adopt, forget } from './actions/nodes.ts';
import { deleteShadow, disown, releaseNode, rescue } from './actions/release.ts';
import { callOff, type SpecWrite, writeHint, writeSpec, writeWish } from './actions/specs.ts';
import { type LiveLook, MOST_IN_A_LOOK } from '../deciding/live-look.ts';
import type { ConditionWriter } from './condition-writer.ts';
import { bump, mayFree } from './actions/fencing.ts';
import type { Command, Free, NoteEnd, NoteReboot, SetCondition, Start } from '../plan/facts/commands.ts';
import { targetOf } from '../plan/gates/withheld.ts';
import type { ShadowView } from '../plan/facts/snapshot.ts';
import { type CommandLimiters, DroppedError, UnreadError } from './write-limiter.ts';
import type { Reporter } from '../telling/reporter.ts';
import { SlowCommands } from './slow-commands.ts';
import { amendmentOf } from '../permits/entries.ts';
import { NotLeadingError, UnreadablePermitsError } from '../permits/ledger.ts';

/** Commands that are carried out at once. */
const AT_ONCE = 10;

interface ExecutorOptions {
  readonly ports: ActionPorts;
  readonly liveLook: Pick<LiveLook, 'confirm'>;
  readonly conditions: Pick<ConditionWriter, 'isWriting'>;
  readonly limiters: CommandLimiters;
  readonly reporter: Pick<Reporter, 'carriedOut' | 'unanswered' | 'permitsReadable' | 'permitsUnreadable'>;
  readonly logger: Logger;
  /** Called when a command that was slow is over. */
  readonly onOver: () => void;
}

/**
 * `unanswered`: the command failed, and it is not known whether it was carried out. `slow`: the command, or an earlier one for its node, has no
 * answer yet.
 */
type Result = Attempted | 'refused' | 'unanswered' | 'slow';
/** `begun`: the Lease is still to be swapped. */
type Attempted = Outcome | 'begun';
type Results = Promise<readonly Result[]>;
type Bump = Extract<Command, { kind: 'bump' }>;
type Note = NoteReboot | NoteEnd;
type Wanted = Exclude<Command, SetCondition>;
type Single = Exclude<Wanted, Start | Free | Note | Bump>;

/** Carries out all commands of a plan except conditions. It decides nothing: a command that fails is left to the next plan. */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #slow: SlowCommands;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#slow = new SlowCommands({ clock: options.ports.clock, onOver: options.onOver });
  }

  /**
   * @param shadows by name, as the commands were decided on
   * @returns `moved`: a command found that the state had changed since it was decided on, or waits because it has found that before. `changed`:
   * something else did that no cache shows: a permit, what is known of a permit, or which writes the API server has not taken.
   * @throws NotLeadingError
   */
  async carryOut(
    commands: readonly Command[],
    shadows: ReadonlyMap<string, ShadowView>,
    signal: AbortSignal,
  ): Promise<'moved' | 'changed' | undefined> {
    const run = { shadows, signal };
    const bumps = commands.filter((command) => command.kind === 'bump');
    const singles = commands.filter((command): command is Single => !BATCHED.has(command.kind));
    const [single, bumped, swapped] = await Promise.all([
      this.#each(singles, run, (command) => this.#single(command, signal)),
      this.#each(bumps, run, (command) => bump(this.#options.ports, command, signal)),
      this.#permits(commands, run),
    ]);
    const { started, changing } = swapped;
    const all = [...single, ...bumped, ...started, ...changing];
    if (all.includes('moved')) return 'moved';
    const changed = [...bumped, ...changing].includes('done') || all.some((result) => NOT_TAKEN.has(result));
    return changed ? 'changed' : undefined;
  }

  /** Resolves when no command is under way any more. The signal of a term ends all of them. */
  settled(): Promise<void> {
    return this.#slow.settled();
  }

  /** One after the other, because each swap is made on the permits that the one before it left. */
  async #permits(commands: readonly Command[], run: Run): Promise<PermitResults> {
    const starts = commands.filter((command) => command.kind === 'start');
    const frees = commands.filter((command) => command.kind === 'free');
    const notes = commands.filter((command) => command.kind === 'note-reboot' || command.kind === 'note-end');
    const started = await this.#start(starts, run);
    const freed = await this.#free(frees, run);
    const amend = () => this.#options.ports.permitLedger.amend(notes.map(amendmentOf), run.signal);
    return { started, changing: [...freed, await this.#swap(notes, run, amend)] };
  }

  /** Rule L1: the look reads the shadows, the swap comes next, then the specs. */
  async #start(wanted: readonly Start[], run: Run): Results {
    const { starts, left } = await this.#look(wanted, run);
    const swapped = await this.#swap(starts, run, () => this.#options.ports.permitLedger.take(starts, run.signal));
    if (swapped !== 'done') return [...left, swapped];
    return [...left, ...(await this.#each(starts, run, (start) => this.#write(start, run.signal)))];
  }

  /** Starts that are not given again would be given by each plan until the caches have caught up. */
  async #look(wanted: readonly Start[], { signal }: Run): Promise<Looked> {
    const due = wanted.filter((start) => this.#isOpen(start));
    const open = due.slice(0, MOST_IN_A_LOOK);
    const left: Result[] = open.length < wanted.length ? ['moved'] : [];
    if (open.length === 0) return { starts: [], left };
    try {
      const { confirmed, dropped, unread } = await this.#options.liveLook.confirm(open, signal);
      for (const { start, error } of unread) left.push(this.#failed([start], error, { permits: 1 }));
      for (const { shadow } of dropped) this.#options.limiters.of('start').moved(shadow);
      return { starts: confirmed, left: dropped.length > 0 ? [...left, 'moved'] : left };
    } catch (error) {
      if (error instanceof NotLeadingError || signal.aborted) throw error;
      return { starts: [], left: [...left, this.#failed(open, error, { permits: open.length })] };
    }
  }

  /** A condition that lands after the shadow was read would make the start a conflict. None begins while a plan is carried out. */
  #isOpen(start: Start): boolean {
    const { shadow } = start;
    const isLimited = this.#options.limiters.of('start').restMs(shadow) > 0;
    return !isLimited && !this.#slow.blocks(shadow) && !this.#options.conditions.isWriting(shadow);
  }

  /** Rule L3: the node is marked first, and then the Lease is swapped. */
  async #free(frees: readonly Free[], run: Run): Results {
    const ready: Free[] = [];
    const results = await this.#each(frees, run, async (free) => {
      if (!(await mayFree(this.#options.ports, free, run.signal))) return 'moved';
      ready.push(free);
      return 'begun';
    });
    const swapped = await this.#swap(ready, run, () => this.#options.ports.permitLedger.free(ready, run.signal));
    return results.map((result) => (result === 'begun' ? swapped : result));
  }

  /**
   * Where a swap fails, each of its nodes waits and asks again by itself. So if the API server refuses a list for its length, the nodes that fit
   * still get their permits (rule L7). Each swap begins with a read of the Lease, which also shows what became of a swap of unknown outcome.
   */
  async #swap(commands: readonly (Start | Free | Note)[], { signal }: Run, swap: () => Promise<void>): Promise<Result> {
    if (commands.length === 0) return 'needless';
    try {
      await swap();
      this.#options.reporter.permitsReadable();
      for (const { kind, shadow } of commands) if (kind !== 'start') this.#options.limiters.of(kind).taken(shadow);
      return 'done';
    } catch (error) {
      if (error instanceof NotLeadingError || signal.aborted) throw error;
      return this.#failed(commands, error, { permits: commands.length });
    }
  }

  #each<C extends Wanted>(commands: readonly C[], run: Run, work: (command: C) => Promise<Attempted>): Results {
    return inParallel(commands, AT_ONCE, async (command) => {
      const target = targetOf(command);
      if (this.#slow.blocks(target)) return 'slow';
      const result = await this.#slow.waitFor(target, this.#reported(command, run, work));
      // It may still land, so the permit may be needed until the shadow was bumped.
      if (result === 'slow') this.#options.ports.permitLedger.doubt(target);
      return result;
    });
  }

  async #reported<C extends Wanted>(command: C, run: Run, work: (command: C) => Promise<Attempted>): Promise<Result> {
    const result = await this.#attempt(command, run.signal, () => work(command));
    const shadow = 'shadow' in command ? run.shadows.get(command.shadow) : undefined;
    if (shadow && result === 'done') this.#options.reporter.carriedOut(command, shadow);
    if (shadow && result === 'unanswered') this.#options.reporter.unanswered(command, shadow);
    return result;
  }

  async #single(command: Single, signal: AbortSignal): Promise<Outcome> {
    if (command.kind === 'set-spec') return this.#write(command, signal);
    if (command.kind !== 'call-off') return keepUp(this.#options.ports, command, signal);
    const write = await callOff(this.#options.ports, command, signal);
    return write ? this.#write(write, signal) : 'moved';
  }

  /** A write of unknown outcome may land later, so the permit is in doubt until the shadow was bumped. A refused write never lands. */
  async #write(command: SpecWrite, signal: AbortSignal): Promise<'done'> {
    try {
      await writeSpec(this.#options.ports, command, signal);
      return 'done';
    } catch (error) {
      if (!isDefinite(error)) this.#options.ports.permitLedger.doubt(command.shadow);
      throw error;
    }
  }

  /** Tries the command unless it was in vain just now. */
  async #attempt(command: Wanted, signal: AbortSignal, work: () => Promise<Attempted>): Promise<Result> {
    const { limiters, logger } = this.#options;
    const { kind } = command;
    const what = 'shadow' in command ? { shadow: command.shadow } : { node: command.node };
    const limiter = limiters.of(kind);
    const target = targetOf(command);
    if (limiter.restMs(target) > 0) return 'moved';
    try {
      const outcome = await work();
      logger.debug(outcome === 'moved' ? 'state has changed' : 'carried out', { command: kind, ...what, outcome });
      if (outcome === 'done') limiter.taken(target);
      else if (outcome !== 'begun') limiter.moved(target);
      return outcome;
    } catch (error) {
      if (error instanceof NotLeadingError || signal.aborted) throw error;
      if (isMoved(error)) limiter.moved(target);
      return this.#failed([command], error, what);
    }
  }

  /** @param what they were, for the log */
  #failed(commands: readonly Wanted[], error: unknown, what: Fields): 'moved' | 'refused' | 'unanswered' {
    const { ports, limiters, reporter, logger } = this.#options;
    const fields = { command: commands[0]?.kind, ...what, error };
    if (isMoved(error)) logger.debug('state has changed', fields);
    else logger.warn('command failed', fields);
    // An overwritten list of permits is no refusal by the API server: nothing was sent, and the list may be repaired at any moment.
    if (error instanceof UnreadablePermitsError) reporter.permitsUnreadable(ports.permitLedger.reference, error);
    if (isMoved(error) || error instanceof UnreadablePermitsError) return 'moved';
    for (const command of commands) limiters.of(command.kind).refused(targetOf(command), error);
    const isSettled = error instanceof UnreadError || error instanceof DroppedError || isDefinite(error);
    return isSettled ? 'refused' : 'unanswered';
  }
}

/** Commands that no permit depends on. */
type Upkeep = Exclude<Single, { kind: 'set-spec' | 'call-off' }>;

function keepUp(ports: ActionPorts, command: Upkeep, signal: AbortSignal): Promise<Outcome> {
  if (command.kind === 'set-hint') return writeHint(ports, command, signal);
  if (command.kind === 'set-wish') return writeWish(ports, command, signal);
  if (command.kind === 'release') return releaseNode(ports, command.node, signal);
  if (command.kind === 'rescue') return rescue(ports, command.node, signal);
  if (command.kind === 'disown') return disown(ports, command.node, signal);
  if (command.kind === 'adopt') return adopt(ports, command.node, signal);
  if (command.kind === 'forget') return forget(ports, command.node, signal);
  return deleteShadow(ports, command, signal);
}

interface Run {
  readonly shadows: ReadonlyMap<string, ShadowView>;
  readonly signal: AbortSignal;
}

interface Looked {
  readonly starts: readonly Start[];
  /** What became of the others. */
  readonly left: readonly Result[];
}

interface PermitResults {
  readonly started: readonly Result[];
  /** Of what changes permits, and nothing else. */
  readonly changing: readonly Result[];
}

/** A command with such a result is asked for again, after a pause of its own. */
const NOT_TAKEN: ReadonlySet<Result> = new Set(['refused', 'unanswered']);
/** Commands that are carried out together, or elsewhere. */
const BATCHED = new Set<string>(['start', 'free', 'note-reboot', 'note-end', 'bump', 'set-condition']);
