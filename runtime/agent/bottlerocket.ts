import type { ProcessContext } from '../lib/process.ts';
import type { BottlerocketAgentConfig } from './config.ts';
import { Bottlerocket } from './host/bottlerocket.ts';
import { UnixSocketTransport } from './host/unix-socket.ts';
import { readBootId, runAgent } from './run.ts';

/** Runs the agent of a host with Bottlerocket's API. @see runAgent */
export function runBottlerocketAgent(config: BottlerocketAgentConfig, context: ProcessContext): Promise<string> {
  const { clock, random } = context;
  const host = new Bottlerocket({
    transport: new UnixSocketTransport(config.BOTTLEROCKET_API_SOCKET, clock),
    readBootId: () => readBootId(config.BOOT_ID_PATH),
    clock,
    random,
  });
  return runAgent(config, context, host);
}
