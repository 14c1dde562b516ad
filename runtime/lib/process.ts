import type { Basics } from './basics.ts';
import { writeFileSync } from 'node:fs';
import { type Clock, systemClock } from './clock.ts';
import { describeEnv, EnvError, type EnvSchema } from './env.ts';
import { createLogger, type Level, type LogFormat, type Logger } from './log.ts';
import type { Random } from './random.ts';
import { stackOf } from './stack.ts';
import { VERSION } from './version.ts';

/** What every process of the operator reads from its environment besides its own settings. */
interface ProcessConfig {
  readonly LOGGING_FORMATTER: LogFormat;
  readonly LOGGING_ANSI_ENABLED: boolean;
  readonly TRACING_FILTER_DIRECTIVE: Level;
  readonly TERMINATION_LOG: string;
}

/** What a process may use of its surroundings. */
export interface ProcessContext extends Basics {
  /** Aborts at the first SIGTERM or SIGINT; the process should then end soon. */
  readonly signal: AbortSignal;
}

interface ProcessSpec<C extends ProcessConfig> {
  /** e.g. `brupop-agent`. */
  readonly name: string;
  /** One sentence for `--help`. */
  readonly summary: string;
  readonly env: EnvSchema;
  /** @throws EnvError naming every fault */
  read(source: Readonly<Record<string, string | undefined>>): C;
  /**
   * The process's work, until `signal` aborts. Where it ends by itself it may resolve with the reason, which goes into the termination log; the
   * exit code is 0. A rejection gives exit code 1, unless the signal has aborted.
   */
  run(config: C, context: ProcessContext): Promise<string | void>;
}

/** The surroundings of a process; in production those of `node:process`. */
export interface ProcessWorld {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
  out(text: string): void;
  err(text: string): void;
  writeFile(path: string, text: string): void;
  /** Calls `listener` for each SIGTERM and SIGINT. */
  onSignal(listener: (name: string) => void): void;
  exit(code: number): void;
}

export const EXIT = { ok: 0, failed: 1, badSettings: 2, forced: 130 } as const;

/** Runs a process from its arguments to its exit code: help, version, settings, log, signals, termination message. */
export async function runProcess<C extends ProcessConfig>(
  spec: ProcessSpec<C>,
  world: ProcessWorld = systemWorld(),
): Promise<void> {
  const [argument] = world.args;
  if (argument !== undefined) return world.exit(answerArgument(spec, argument, world));
  let config: C;
  try {
    config = spec.read(world.env);
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    world.err(`${spec.name}: ${error.message}\n`);
    tell(world, world.env['TERMINATION_LOG'], error.message);
    return world.exit(EXIT.badSettings);
  }
  world.exit(await work(spec, config, world));
}

function answerArgument(
  spec: Pick<ProcessSpec<ProcessConfig>, 'name' | 'summary' | 'env'>,
  argument: string,
  world: ProcessWorld,
): number {
  if (argument === '--version') {
    world.out(`${spec.name} ${VERSION}\n`);
    return EXIT.ok;
  }
  const usage = `${spec.name} ${VERSION}\n${spec.summary}\n\nOptions: --help, --version\nEnvironment:\n${describeEnv(spec.env)}\n`;
  if (argument === '--help' || argument === '-h') {
    world.out(usage);
    return EXIT.ok;
  }
  world.err(`${spec.name}: unknown argument ${argument}\n\n${usage}`);
  return EXIT.badSettings;
}

async function work<C extends ProcessConfig>(spec: ProcessSpec<C>, config: C, world: ProcessWorld): Promise<number> {
  const { clock, random } = world;
  const logger = processLogger(config, world);
  const signal = cancelOnSignal(world, logger);
  logger.info('started', { process: spec.name, version: VERSION });
  try {
    const reason = await spec.run(config, { signal, logger, clock, random });
    if (reason) tell(world, config.TERMINATION_LOG, reason);
    logger.info('ended', reason ? { reason } : {});
    return EXIT.ok;
  } catch (error) {
    if (signal.aborted) return EXIT.ok;
    logger.error('failed', { error, stack: stackOf(error) });
    tell(world, config.TERMINATION_LOG, error instanceof Error ? `${error.name}: ${error.message}` : 'failed');
    return EXIT.failed;
  }
}

function processLogger(config: ProcessConfig, world: ProcessWorld): Logger {
  return createLogger({
    format: config.LOGGING_FORMATTER,
    ansi: config.LOGGING_ANSI_ENABLED,
    level: config.TRACING_FILTER_DIRECTIVE,
    clock: world.clock,
    write: (line) => world.out(line),
  });
}

/** The first signal asks the process to end, the second ends it. */
function cancelOnSignal(world: ProcessWorld, logger: Logger): AbortSignal {
  const cancel = new AbortController();
  world.onSignal((name) => {
    if (cancel.signal.aborted) return world.exit(EXIT.forced);
    logger.info('ending', { signal: name });
    cancel.abort(new Error(`ended by ${name}`));
  });
  return cancel.signal;
}

/** A process that cannot write its reason still has to end, so a failure is only reported. */
function tell(world: ProcessWorld, path: string | undefined, reason: string): void {
  if (!path) return;
  try {
    world.writeFile(path, `${reason}\n`);
  } catch {
    world.err(`cannot write the termination log ${path}\n`);
  }
}

function systemWorld(): ProcessWorld {
  return {
    args: process.argv.slice(2),
    env: process.env,
    clock: systemClock,
    random: Math.random,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    writeFile: (path, text) => writeFileSync(path, text),
    onSignal: (listener) => {
      for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, listener);
    },
    exit: (code) => process.exit(code),
  };
}
