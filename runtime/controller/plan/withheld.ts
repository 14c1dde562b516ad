import { shadowName } from '../../shadow/names.ts';
import type { Alarm } from './alarm.ts';
import type { Command } from './commands.ts';
import type { Refusal, Snapshot } from './snapshot.ts';
import { type Finding, found, type Reason, SETBACKS } from './verdict.ts';

/** Commands that the API server has not taken are withheld for a while, each by itself: whatever else its node needs goes on. */
export class Withheld {
  readonly #refusals: Snapshot['refusals'];
  readonly #alarm: Alarm;
  /** What this plan would ask for first but for a refusal, by name of the shadow. */
  readonly #found = new Map<string, Refusal>();

  constructor({ refusals }: Pick<Snapshot, 'refusals'>, alarm: Alarm) {
    this.#refusals = refusals;
    this.#alarm = alarm;
  }

  /** Those of `commands` that may be asked for now. */
  due<C extends Command>(commands: readonly C[]): readonly C[] {
    if (this.#refusals.size === 0) return commands;
    return commands.filter((command) => !this.refused(command.kind, targetOf(command)));
  }

  /** What withholds a command of this kind; undefined where it may be asked for now. @param shadow its name */
  refused(kind: Command['kind'], shadow: string): Finding | undefined {
    const refusal = this.#refusals.get(shadow)?.find((one) => one.kind === kind);
    if (!refusal || this.#alarm.reached(refusal.retryAt)) return undefined;
    if (!this.#found.has(shadow)) this.#found.set(shadow, refusal);
    return found('WriteRefused', refusal.message);
  }

  /** What there is to say of a node, with what is withheld of it. @param shadow its name */
  explain(finding: Finding, shadow: string): Finding {
    const refusal = this.#found.get(shadow);
    if (!refusal) return finding;
    const { message } = refusal;
    if (STRONGER.has(finding.reason)) return { ...finding, message: `${finding.message}; ${message}` };
    return { ...finding, reason: 'WriteRefused', message };
  }
}

/** Where the node is in trouble, that comes first, and what it is called. */
const STRONGER: ReadonlySet<Reason> = new Set([...SETBACKS, 'AgentSilent']);

/** Name of the shadow of the node that the command is for, whether or not there is one. */
export function targetOf(command: Command): string {
  return 'shadow' in command ? command.shadow : shadowName(command.node);
}
