import { shadowName } from '../../../api/shadow/names.ts';
import type { Command } from '../facts/commands.ts';
import { isReason } from '../facts/reasons.ts';
import { NEVER, nextAfter } from '../facts/requeue.ts';
import type { WriteRefusal, Snapshot } from '../facts/snapshot.ts';
import { type Finding, found } from '../facts/verdict.ts';

/** Commands that the API server has not taken are withheld for a while (rule L9). Each is withheld by itself: other commands for its node go on. */
export class Withheld {
  readonly #refusals: Snapshot['refusals'];
  readonly #now: number;

  constructor({ refusals }: Pick<Snapshot, 'refusals'>, now: number) {
    this.#refusals = refusals;
    this.#now = now;
  }

  /** What withholds a command of this kind; undefined where it may be asked for now. @param shadow its name */
  refusalOf(kind: Command['kind'], shadow: string): WriteRefusal | undefined {
    if (this.#refusals.size === 0) return undefined;
    const refusal = this.#refusals.get(shadow)?.find((one) => one.kind === kind);
    return refusal && !(refusal.retryAt <= this.#now) ? refusal : undefined;
  }

  /** Those of `commands` that may be asked for now. */
  due<C extends Command>(commands: readonly C[]): readonly C[] {
    if (this.#refusals.size === 0) return commands;
    return commands.filter((command) => !this.refusalOf(command.kind, targetOf(command)));
  }

  /** By name of the shadow, what withholds the first of `commands` that is for it. */
  firstOf(commands: readonly Command[]): ReadonlyMap<string, WriteRefusal> {
    const first = new Map<string, WriteRefusal>();
    if (this.#refusals.size === 0) return first;
    for (const command of commands) {
      const target = targetOf(command);
      const refusal = this.refusalOf(command.kind, target);
      if (refusal && !first.has(target)) first.set(target, refusal);
    }
    return first;
  }

  /** When the first of `commands` that is withheld may be asked for. */
  changesAt(commands: readonly Command[]): number {
    if (this.#refusals.size === 0) return NEVER;
    const refusals = commands.map((command) => this.refusalOf(command.kind, targetOf(command)));
    return nextAfter(
      this.#now,
      refusals.flatMap((refusal) => refusal?.retryAt ?? []),
    );
  }
}

/** The finding on a node whose start is withheld. */
export const refused = ({ message }: Pick<WriteRefusal, 'message'>): Finding => found('WriteRefused', message);

/** The finding on a node for which a command is withheld. */
export function withRefusal(finding: Finding, { message }: Pick<WriteRefusal, 'message'>): Finding {
  if (isReason(finding.reason, 'outranking refusals')) return { ...finding, message: `${finding.message}; ${message}` };
  return { ...finding, reason: 'WriteRefused', message };
}

/** Name of the shadow of the node that the command is for, whether or not there is one. */
export function targetOf(command: Command): string {
  return 'shadow' in command ? command.shadow : shadowName(command.node);
}
