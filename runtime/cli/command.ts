import type { KubeTransport } from '../kube/transport.ts';
import type { Clock } from '../lib/clock.ts';
import type { Look } from './look.ts';

/** What a command takes after its name, as `parseArgs` of Node reads it. */
export interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** It may be given several times. */
  readonly multiple?: true;
  /** What the text is called in `--help`; undefined for a flag. */
  readonly value?: string;
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The cluster that is asked. */
export interface Cluster {
  /** Name of the kubeconfig's context; undefined in a pod. */
  readonly context?: string | undefined;
  readonly transport: KubeTransport;
  /** The operator's own. */
  readonly namespace: string;
}

/** By name of the option; undefined for one that was not given. */
export type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** What was given, once or several times. */
export function textsOf(values: Values, name: string): readonly string[] {
  const given = values[name];
  return given === undefined ? [] : [given].flat().map(String);
}

/** A command as somebody has given it. */
export interface Request {
  /** What follows the command's name, apart from options. */
  readonly names: readonly string[];
  readonly values: Values;
  readonly clock: Clock;
  /** Name of whoever has started the program, as the system knows it. */
  readonly user: string;
  /** Reads the kubeconfig. Nothing is asked of the cluster. @throws AccessError */
  readonly connect: () => Promise<Cluster>;
}

/** What a command has to say. */
export interface Answer {
  /** For programs: JSON, with times as RFC 3339. */
  readonly value: unknown;
  /** For people. */
  lines(look: Look): readonly string[];
  /** @default 0 */
  readonly exitCode?: ExitCode;
  /** What is done after that was said, until the signal aborts. */
  readonly goesOn?: (signal: AbortSignal) => Promise<void>;
}

export interface Command {
  readonly name: string;
  /** What it takes, e.g. `[NODE...]`; empty for nothing. */
  readonly takes: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** What its own `--help` says besides. */
  readonly details: string;
  readonly options: Options;
  /** How many names may follow. */
  readonly most: number;
  readonly least?: number;
  /** @throws UsageError, and as `KubeTransport.request` */
  run(request: Request): Promise<Answer>;
}

/** `failed`: no answer, or what was asked for cannot be. `usage`: the arguments make no sense. `found`: `doctor` has found something. */
export const EXIT = { ok: 0, failed: 1, usage: 2, found: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The arguments make no sense. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What was asked for cannot be, in the words that people read. */
export class RefusedCommandError extends Error {
  override readonly name = 'RefusedCommandError';
}
