import { durationMs } from '../api/policy/duration.ts';
import type { KubeTransport } from '../kube/transport.ts';
import type { Clock } from '../lib/clock.ts';
import type { Terminal } from './output/terminal.ts';

/** An option of a command, in the form that Node's `parseArgs` takes. */
interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** The option may be given several times. */
  readonly multiple?: true;
  /** Name of the value in `--help`; undefined for a flag. */
  readonly value?: string;
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The cluster that a command talks to. */
export interface Cluster {
  /** Name of the kubeconfig's context; undefined in a pod. */
  readonly context?: string | undefined;
  readonly transport: KubeTransport;
  /** The operator's namespace. */
  readonly namespace: string;
}

/** Values by the name of the option; undefined for an option that was not given. */
export type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** Every value of an option. */
export function optionValues(values: Values, name: string): readonly string[] {
  const given = values[name];
  return given === undefined ? [] : [given].flat().map(String);
}

/** The duration in the text of an option, milliseconds. @param like an example of one @throws UsageError */
export function durationOf(option: string, text: string, like = '90s or 2h30m'): number {
  const duration = durationMs(text);
  if (duration === undefined) throw new UsageError(`--${option}: expected a duration like ${like}, got ${text}`);
  return duration;
}

/** What the program uses of its process. */
export interface ProgramContext {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
  readonly clock: Clock;
  /** Aborts when the program must end. */
  readonly signal: AbortSignal;
  /** Read again for each output, because a terminal can change its size. */
  terminal(): Terminal;
  out(text: string): void;
  err(text: string): void;
  /** Replaces the text that was shown before on a terminal. Elsewhere it prints the text below. */
  redraw(text: string): void;
  /** Shows how far long work is, on a terminal besides the output. Each text replaces the one before; an empty one ends it. */
  progress(text: string): void;
}

/** What a command needs to run. */
export interface CommandRequest {
  /** Arguments of the command that are no options. */
  readonly names: readonly string[];
  readonly values: Values;
  readonly clock: Clock;
  /** The user's name on this machine. */
  readonly user: string;
  /** Reads the kubeconfig, and finds the operator's namespace where none is given. @throws AccessError, and as `KubeTransport.request` */
  readonly connect: () => Promise<Cluster>;
  /** As that of `ProgramContext`. @default nobody sees it */
  readonly progress?: (text: string) => void;
}

/** The result of a command. */
export interface Answer {
  /** The result for programs, as JSON. Times are RFC 3339. */
  readonly value: object;
  /** The result for people. */
  lines(terminal: Terminal): readonly string[];
  /** @default 0 */
  readonly exitCode?: ExitCode;
  /** Work that continues after the result was printed, until the signal aborts. */
  readonly continues?: (signal: AbortSignal) => Promise<void>;
}

export interface Command {
  readonly name: string;
  /** An older name, which goes on working. */
  readonly alias?: string;
  /** Its arguments in usage lines, e.g. `[NODE...]`; empty for none. */
  readonly args: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** Further text of its own `--help`. */
  readonly details: string;
  readonly options: Options;
  /** How many arguments it takes at most, and at least. */
  readonly maxArgs: number;
  readonly minArgs?: number;
  /** @throws UsageError, and as `KubeTransport.request` */
  run(request: CommandRequest): Promise<Answer>;
}

/**
 * `failed`: no answer, or the cluster refused. `usage`: wrong arguments. `found`: there is something that needs somebody. `unfinished`: updates wait
 * or run.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, found: 3, unfinished: 4 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The arguments are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot be carried out. People read the message. */
export class RefusedCommandError extends Error {
  override readonly name = 'RefusedCommandError';
}
