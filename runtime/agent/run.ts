import { readFile } from 'node:fs/promises';
import { agentApiClient } from '../agentapi/client.ts';
import { userAgent } from '../kube/https.ts';
import { connectInCluster } from '../kube/in-cluster.ts';
import { probeRoutes, serveHttp } from '../lib/http.ts';
import type { ProcessContext } from '../lib/process.ts';
import { createAgent } from './agent.ts';
import { clusterView } from './cluster.ts';
import { type AgentConfig, operatorAddress, operatorFiles } from './config.ts';
import { BootIdError } from './host/errors.ts';
import type { HostUpdater } from './host/port.ts';

/**
 * Runs the agent of this process by its settings. Resolves with the reason when the agent ends by itself. Each driver has a program of its
 * own that calls this, so that no other driver is loaded.
 */
export async function runAgent(
  config: AgentConfig,
  { signal, logger: log, clock, random }: ProcessContext,
  host: HostUpdater,
): Promise<string> {
  const nodeName = config.MY_NODE_NAME;
  const logger = log.with({ node: nodeName });
  const { transport, namespace } = await connectInCluster(config, userAgent('agent'));
  const agent = createAgent({
    ...clusterView({ transport, namespace, nodeName, clock, random, logger }),
    host,
    api: agentApiClient({
      ...operatorAddress(config, namespace),
      ...operatorFiles(config),
      clock,
    }),
    clock,
    random,
    logger,
    times: {
      lbWaitMs: config.EXCLUDE_FROM_LB_WAIT_TIME_IN_SEC * 1000,
      checkIntervalMs: config.UPDATE_CHECK_INTERVAL_IN_SEC * 1000,
    },
  });
  await serveHttp({ port: config.HTTP_PORT, routes: probeRoutes(() => agent.ready), logger, signal });
  return agent.run(signal);
}

/**
 * The kernel's random id of the present boot. It is read each time: in a simulation the host reboots and this process does not.
 * @param path usually `/proc/sys/kernel/random/boot_id`, which is the host's in any container
 * @throws BootIdError when it cannot be read or is empty
 */
export async function readBootId(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    throw new BootIdError(`${path}: cannot be read (${cause.code ?? 'EIO'})`, { cause });
  });
  const id = text.trim();
  if (id === '') throw new BootIdError(`${path}: empty`);
  return id;
}
