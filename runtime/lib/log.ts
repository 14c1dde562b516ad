import { type Clock, rfc3339 } from './clock.ts';
import { bool, type EnvVar, oneOf } from './env.ts';
import { shortened } from './parts.ts';

export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'full' | 'compact' | 'pretty' | 'json';
export type Fields = Readonly<Record<string, unknown>>;

/** Messages are constant sentences and what varies goes into `fields`, so that lines can be counted and searched. */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger that adds `fields` to each of its lines. */
  with(fields: Fields): Logger;
}

const LEVELS: readonly Level[] = ['trace', 'debug', 'info', 'warn', 'error'];
const COLOURS: Record<Level, number> = { trace: 90, debug: 34, info: 32, warn: 33, error: 31 };

/** The three variables of the public contract that shape a process's log. */
export const logEnv = {
  LOGGING_FORMATTER: oneOf(['full', 'compact', 'pretty', 'json'], {
    help: 'shape of log lines: full, compact, pretty or json',
    default: 'full',
  }),
  LOGGING_ANSI_ENABLED: bool({ help: 'colour the log lines', default: 'false' }),
  TRACING_FILTER_DIRECTIVE: {
    expected: 'a level (trace, debug, info, warn, error) or directives like "brupop=debug,info"',
    help: 'least level that is logged',
    default: 'info',
    parse: parseDirective,
    schema: {
      type: 'string',
      pattern: '([Tt][Rr][Aa][Cc][Ee]|[Dd][Ee][Bb][Uu][Gg]|[Ii][Nn][Ff][Oo]|[Ww][Aa][Rr][Nn]|[Ee][Rr][Rr][Oo][Rr])',
    },
  } satisfies EnvVar<Level>,
};

/**
 * The level of a filter in the dialect of Rust's `tracing`, which existing installations have set. A bare level wins, else the most verbose of
 * the `target=level` pairs. Targets are module paths of the older implementation and select nothing here.
 */
function parseDirective(value: string): Level | undefined {
  const parts = value.split(',').map((part) => part.trim().toLowerCase());
  const levels = parts.map((part) => LEVELS.find((level) => level === part.slice(part.lastIndexOf('=') + 1)));
  if (levels.includes(undefined)) return undefined;
  const bare = levels.find((_, index) => !parts[index]?.includes('='));
  return bare ?? LEVELS.find((level) => levels.includes(level));
}

export interface LogOptions {
  readonly format: LogFormat;
  readonly ansi: boolean;
  readonly level: Level;
  readonly clock: Pick<Clock, 'now'>;
  /** Receives whole lines, newline included. */
  write(line: string): void;
}

export function createLogger(options: LogOptions, bound: Fields = {}): Logger {
  const log = (level: Level) => (message: string, fields?: Fields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(options.level)) return;
    options.write(render({ level, message, fields: { ...bound, ...fields } }, options));
  };
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    with: (fields) => createLogger(options, { ...bound, ...fields }),
  };
}

/** Discards everything. For tests that are not about the log. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLogger };

interface Line {
  readonly level: Level;
  readonly message: string;
  readonly fields: Fields;
}

function render({ level, message, fields }: Line, { format, ansi, clock }: LogOptions): string {
  const timestamp = rfc3339(clock.now(), { millis: true });
  const plain = Object.entries(fields).map(([key, value]) => [key, readable(value)] as const);
  if (format === 'json') {
    const named = plain.map(([key, value]) => [OWN.has(key) ? `fields.${key}` : key, value] as const);
    return `${JSON.stringify({ timestamp, level, message, ...Object.fromEntries(named) })}\n`;
  }
  const tag = level.toUpperCase().padStart(5);
  const shown = ansi ? `\u001B[${COLOURS[level]}m${tag}\u001B[0m` : tag;
  if (format === 'pretty') {
    const rows = plain.map(([key, value]) => `    ${key}: ${asText(value)}\n`).join('');
    return `  ${timestamp} ${shown} ${message}\n${rows}`;
  }
  const pairs = plain.map(([key, value]) => ` ${key}=${asText(value)}`).join('');
  return format === 'compact' ? `${shown} ${message}${pairs}\n` : `${timestamp} ${shown} ${message}${pairs}\n`;
}

/** Keys that each JSON line has. A field of the same name gets a prefix, or it would replace the message that alerts look for. */
const OWN: ReadonlySet<string> = new Set(['timestamp', 'level', 'message']);

/** Most bytes of one field. Container runtimes split lines at 16 KiB, and a split line can be neither searched nor parsed. */
const LONGEST_FIELD = 12 * 1024;

/**
 * What is logged of an error: its name, its message and those of its causes. Never a stack, a request or a response, which can hold tokens.
 */
function readable(value: unknown): unknown {
  if (typeof value === 'string') return shortened(value, LONGEST_FIELD);
  if (!(value instanceof Error)) return value;
  const cause = value.cause instanceof Error ? `: ${readable(value.cause) as string}` : '';
  return shortened(`${value.name}: ${value.message}${cause}`, LONGEST_FIELD);
}

function asText(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@%+-]+$/.test(value) ? value : (JSON.stringify(value) ?? 'undefined');
}
