import { createWriteStream } from 'node:fs';
import { runBottlerocketAgent } from '../../runtime/agent/bottlerocket.ts';
import {
  type AgentConfig,
  readAgentConfig,
  readK3osAgentConfig,
  readUpdogAgentConfig,
} from '../../runtime/agent/config.ts';
import { runK3osAgent } from '../../runtime/agent/k3os.ts';
import { runUpdogAgent } from '../../runtime/agent/updog.ts';
import type { Pod } from '../../runtime/kube/objects.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { createLogger } from '../../runtime/lib/log.ts';
import type { ProcessContext } from '../../runtime/lib/process.ts';
import { DRIVER_LABEL } from '../../runtime/shadow/names.ts';
import type { Random } from '../../runtime/lib/random.ts';
import type { StartProgram } from './programs.ts';

type Variables = Readonly<Record<string, string>>;

/** A program of an agent that has its settings. */
interface Configured {
  readonly config: AgentConfig;
  readonly run: (context: ProcessContext) => Promise<string>;
}

const bottlerocket = (env: Variables): Configured => {
  const config = readAgentConfig(env);
  return { config, run: (context) => runBottlerocketAgent(config, context) };
};

/** By the driver that the pod's label names. */
const PROGRAMS: Readonly<Record<string, (env: Variables) => Configured>> = {
  k3os: (env) => {
    const config = readK3osAgentConfig(env);
    return { config, run: (context) => runK3osAgent(config, context) };
  },
  updog: (env) => {
    const config = readUpdogAgentConfig(env);
    return { config, run: (context) => runUpdogAgent(config, context) };
  },
};

/** The program of an agent's pod without a process of its own: the same code, environment, sockets and files. */
export function agentInProcess(
  { metadata }: Pod,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): StartProgram {
  const configured = PROGRAMS[metadata.labels?.[DRIVER_LABEL] ?? ''] ?? bottlerocket;
  return (env, logFile) => {
    const { config, run } = configured(env);
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
    const ended = run({ signal: stop.signal, logger, clock, random })
      .catch((error: unknown) => logger.error('failed', { error }))
      .then(() => undefined)
      .finally(() => log.end());
    return { ended, terminate: end, kill: end };
  };
}
