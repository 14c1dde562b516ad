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

interface CarriedOut {
  /** Something changed that no cache shows: a permit, what is known of a permit, or which writes the API server has not taken. */
  readonly changed: boolean;
  /** How many commands found that the state had changed since they were decided on, or wait because they have found that before. */
  readonly moved: number;
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
  readonly #ports: ActionPorts;
  readonly #limiters: CommandLimiters;
  readonly #slow: SlowCommands;
  readonly #liveLook: Pick<LiveLook, 'confirm'>;
  readonly #conditions: Pick<ConditionWriter, 'isWriting'>;
  readonly #reporter: Pick<Reporter, 'carriedOut' | 'unanswered' | 'permitsReadable' | 'permitsUnreadable'>;
  readonly #logger: Logger;

  constructor({ ports, liveLook, conditions, limiters, reporter, logger, onOver }: ExecutorOptions) {
    this.#ports = ports;
    this.#liveLook = liveLook;
    this.#conditions = conditions;
    this.#limiters = limiters;
    this.#slow = new SlowCommands({ clock: ports.clock, onOver });
    this.#reporter = reporter;
    this.#logger = logger;
  }

  /** @param shadows by name, as the commands were decided on @throws NotLeadingError */
  async carryOut(
    commands: readonly Command[],
    shadows: ReadonlyMap<string, ShadowView>,
    signal: AbortSignal,
  ): Promise<CarriedOut> {
    const run = { shadows, signal };
    const bumps = commands.filter((command) => command.kind === 'bump');
    const singles = commands.filter((command): command is Single => !BATCHED.has(command.kind));
    const [single, bumped, swapped] = await Promise.all([
      this.#each(singles, run, (command) => this.#single(command, signal)),
      this.#each(bumps, run, (command) => bump(this.#ports, command, signal)),
      this.#permits(commands, run),
    ]);
    const { started, changing } = swapped;
    const all = [...single, ...bumped, ...started, ...changing];
    const changed = [...bumped, ...changing].includes('done') || all.some((result) => NOT_TAKEN.has(result));
    return { changed, moved: all.filter((result) => result === 'moved').length };
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
    return { started, changing: [...freed, await this.#note(notes, run)] };
  }

  /** Rule L1: the look reads the shadows, the swap comes next, then the specs. */
  async #start(wanted: readonly Start[], run: Run): Results {
    const { starts, left } = await this.#look(wanted, run);
    return [...left, ...(await this.#take(starts, run))];
  }

  /** Starts that are not given again would be given by each plan until the caches have caught up. */
  async #look(wanted: readonly Start[], { signal }: Run): Promise<Looked> {
    const due = wanted.filter((start) => this.#isOpen(start));
    const open = due.slice(0, MOST_IN_A_LOOK);
    const left: Result[] = open.length < wanted.length ? ['moved'] : [];
    if (open.length === 0) return { starts: [], left };
    try {
      const { confirmed, dropped, unread } = await this.#liveLook.confirm(open, signal);
      for (const { start, error } of unread) left.push(this.#withheld([start], error));
      for (const { shadow } of dropped) this.#limiters.of('start').moved(shadow);
      return { starts: confirmed, left: dropped.length > 0 ? [...left, 'moved'] : left };
    } catch (error) {
      if (error instanceof NotLeadingError || signal.aborted) throw error;
      return { starts: [], left: [...left, this.#withheld(open, error)] };
    }
  }

  /** A condition that lands after the shadow was read would make the start a conflict. None begins while a plan is carried out. */
  #isOpen(start: Start): boolean {
    const { shadow } = start;
    const isLimited = this.#limiters.of('start').restMs(shadow) > 0;
    return !isLimited && !this.#slow.blocks(shadow) && !this.#conditions.isWriting(shadow);
  }

  async #take(starts: readonly Start[], run: Run): Results {
    const swapped = await this.#swap(starts, run, () => this.#ports.permitLedger.take(starts, run.signal));
    if (swapped !== 'done') return [swapped];
    return this.#each(starts, run, (start) => this.#write(start, run.signal));
  }

  /** Rule L3: the node is marked first, and then the Lease is swapped. */
  async #free(frees: readonly Free[], run: Run): Results {
    const ready: Free[] = [];
    const results = await this.#each(frees, run, async (free) => {
      if (!(await mayFree(this.#ports, free, run.signal))) return 'moved';
      ready.push(free);
      return 'begun';
    });
    const swapped = await this.#swap(ready, run, () => this.#ports.permitLedger.free(ready, run.signal));
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
      this.#reporter.permitsReadable();
      for (const { kind, shadow } of commands) if (kind !== 'start') this.#limiters.of(kind).taken(shadow);
      return 'done';
    } catch (error) {
      if (error instanceof NotLeadingError || signal.aborted) throw error;
      return this.#withheld(commands, error);
    }
  }

  #withheld(commands: readonly Wanted[], error: unknown): Result {
    this.#report({ command: commands[0]?.kind, permits: commands.length }, error);
    return this.#withhold(commands, error);
  }

  async #note(notes: readonly Note[], run: Run): Promise<Result> {
    const amendments = notes.map(amendmentOf);
    return this.#swap(notes, run, () => this.#ports.permitLedger.amend(amendments, run.signal));
  }

  #each<C extends Wanted>(commands: readonly C[], run: Run, work: (command: C) => Promise<Attempted>): Results {
    return inParallel(commands, AT_ONCE, async (command) => {
      const target = targetOf(command);
      if (this.#slow.blocks(target)) return 'slow';
      const result = await this.#slow.waitFor(target, this.#reported(command, run, work));
      // It may still land, so the permit may be needed until the shadow was bumped.
      if (result === 'slow') this.#ports.permitLedger.doubt(target);
      return result;
    });
  }

  async #reported<C extends Wanted>(command: C, run: Run, work: (command: C) => Promise<Attempted>): Promise<Result> {
    const result = await this.#attempt(command, run.signal, () => work(command));
    const shadow = 'shadow' in command ? run.shadows.get(command.shadow) : undefined;
    if (shadow && result === 'done') this.#reporter.carriedOut(command, shadow);
    if (shadow && result === 'unanswered') this.#reporter.unanswered(command, shadow);
    return result;
  }

  async #single(command: Single, signal: AbortSignal): Promise<Outcome> {
    if (command.kind === 'set-spec') return this.#write(command, signal);
    if (command.kind !== 'call-off') return keepUp(this.#ports, command, signal);
    const write = await callOff(this.#ports, command, signal);
    return write ? this.#write(write, signal) : 'moved';
  }

  /** A write of unknown outcome may land later, so the permit is in doubt until the shadow was bumped. A refused write never lands. */
  async #write(command: SpecWrite, signal: AbortSignal): Promise<'done'> {
    try {
      await writeSpec(this.#ports, command, signal);
      return 'done';
    } catch (error) {
      if (!isDefinite(error)) this.#ports.permitLedger.doubt(command.shadow);
      throw error;
    }
  }

  /** Tries the command unless it was in vain just now. */
  async #attempt(command: Wanted, signal: AbortSignal, work: () => Promise<Attempted>): Promise<Result> {
    const what = {
      command: command.kind,
      ...('shadow' in command ? { shadow: command.shadow } : { node: command.node }),
    };
    const limiter = this.#limiters.of(command.kind);
    const target = targetOf(command);
    if (limiter.restMs(target) > 0) return 'moved';
    try {
      const outcome = await work();
      this.#logger.debug(outcome === 'moved' ? 'state has changed' : 'carried out', { ...what, outcome });
      if (outcome === 'done') limiter.taken(target);
      else if (outcome !== 'begun') limiter.moved(target);
      return outcome;
    } catch (error) {
      if (error instanceof NotLeadingError || signal.aborted) throw error;
      if (isMoved(error)) limiter.moved(target);
      this.#report(what, error);
      return this.#withhold([command], error);
    }
  }

  #withhold(commands: readonly Wanted[], error: unknown): 'moved' | 'refused' | 'unanswered' {
    // An overwritten list of permits is no refusal by the API server: nothing was sent, and the list may be repaired at any moment.
    if (error instanceof UnreadablePermitsError)
      this.#reporter.permitsUnreadable(this.#ports.permitLedger.reference, error);
    if (isMoved(error) || error instanceof UnreadablePermitsError) return 'moved';
    for (const command of commands) this.#limiters.of(command.kind).refused(targetOf(command), error);
    return error instanceof UnreadError || error instanceof DroppedError || isDefinite(error)
      ? 'refused'
      : 'unanswered';
  }

  #report(what: Fields, error: unknown): void {
    if (isMoved(error)) this.#logger.debug('state has changed', { ...what, error });
    else this.#logger.warn('command failed', { ...what, error });
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
