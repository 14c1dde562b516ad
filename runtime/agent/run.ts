import { agentApiClient } from './apiserver/client.ts';
import { userAgent } from '../kube/https.ts';
import { connectInCluster } from '../kube/in-cluster.ts';
import { probeRoutes, serveHttp } from '../lib/http.ts';
import type { ProcessContext } from '../lib/process.ts';
import { createAgent } from './agent.ts';
import { clusterView } from './cluster.ts';
import { type AgentConfig, operatorAddress, operatorFiles } from './config.ts';
import { hostUpdater } from './drivers.ts';

/** Runs the agent of this process by its settings. Resolves with the reason when the agent ends by itself. */
export async function runAgent(
  config: AgentConfig,
  { signal, logger: log, clock, random }: ProcessContext,
): Promise<string> {
  const nodeName = config.MY_NODE_NAME;
  const logger = log.with({ node: nodeName });
  const { transport, namespace } = await connectInCluster(config, { userAgent: userAgent('agent') });
  const agent = createAgent({
    ...clusterView({ transport, namespace, nodeName, clock, random, logger }),
    host: hostUpdater(config, { clock, random }),
    api: agentApiClient({
      ...operatorAddress(config, namespace),
      ...operatorFiles(config),
      clock,
    }),
    clock,
    random,
    logger,
    times: {
      lbWaitMs: config.EXCLUDE_FROM_LB_WAIT_TIME_MS,
      checkIntervalMs: config.UPDATE_CHECK_INTERVAL_MS,
    },
  });
  await serveHttp({ port: config.HTTP_PORT, routes: probeRoutes(() => agent.ready), logger, signal });
  return agent.run(signal);
}
