import { createWriteStream } from 'node:fs';
import { readAgentConfig } from '../../../runtime/agent/config.ts';
import { runAgent } from '../../../runtime/agent/run.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { createLogger } from '../../../runtime/lib/log.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import type { StartProgram } from './programs.ts';

/** The program of an agent's pod without a process of its own: the same code, environment, sockets and files. */
export function agentInProcess({ clock, random }: { readonly clock: Clock; readonly random: Random }): StartProgram {
  return (env, logFile) => {
    const config = readAgentConfig(env);
    const log = createWriteStream(logFile, { flags: 'a' });
    const logger = createLogger({
      format: config.LOGGING_FORMATTER,
      ansi: false,
      level: config.TRACING_FILTER_DIRECTIVE,
      clock,
      write: (line) => log.write(line),
    });
    const stop = new AbortController();
    const end = (): void => stop.abort(new Error('the container was stopped'));
    const ended = runAgent(config, { signal: stop.signal, logger, clock, random })
      .catch((error: unknown) => logger.error('failed', { error }))
      .then(() => undefined)
      .finally(() => log.end());
    return { ended, terminate: end, kill: end };
  };
}
