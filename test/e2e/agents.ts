import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { APISERVER_SERVICE, COMPONENTS, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { type Caller, agentApiClient, type AgentApi } from '../../runtime/agent/apiserver/client.ts';
import type { Node } from '../../runtime/kube/objects.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { kubectl } from './kubectl.ts';
import { operatorPods } from './operator.ts';
import type { Scene } from './scene.ts';

/** An agent's pod as seen from inside. */
export interface AgentPod {
  readonly caller: Caller;
  /** Asks the operator's apiserver with the pod's own files, read for each request as the agent itself does. */
  readonly api: AgentApi;
  /** The token for the operator's apiserver, and for the Kubernetes API, as they are in the files now. */
  tokens(): Promise<{ readonly operator: string; readonly kubernetes: string }>;
}

/** Where the operator's Service is, as the API server dials it. */
export async function serviceAddress(): Promise<{ readonly host: string; readonly port: number }> {
  const { stdout } = await kubectl('get', 'endpointslice', 'brupop-e2e', '-n', NAMESPACE, '-o', 'json');
  const { ports, endpoints } = JSON.parse(stdout) as {
    readonly ports: readonly { readonly port: number }[];
    readonly endpoints: readonly { readonly addresses: readonly string[] }[];
  };
  return { host: endpoints[0]?.addresses[0] ?? '', port: ports[0]?.port ?? 0 };
}

/** The pods of all agents. */
export async function agentPods(scene: Scene): Promise<readonly AgentPod[]> {
  const address = await serviceAddress();
  return operatorPods(scene, COMPONENTS.agent).map(({ metadata, spec }) => {
    const at = (...path: string[]): string => join(scene.fleet.dir, metadata.uid, ...path);
    const tokenPath = at('tokens', 'bottlerocket-agent-service-account-token');
    return {
      caller: callerOn(scene.history.nodes.get(spec?.nodeName ?? '')),
      api: agentApiClient({
        ...address,
        servername: `${APISERVER_SERVICE}.${NAMESPACE}.svc`,
        caPath: at('brupop-tls-keys', 'ca.crt'),
        tokenPath,
        clock: systemClock,
      }),
      tokens: async () => ({
        operator: await readFile(tokenPath, 'utf8'),
        kubernetes: await readFile(at('serviceaccount', 'token'), 'utf8'),
      }),
    };
  });
}

function callerOn(node: Node | undefined): Caller {
  if (!node) throw new Error('the pod has no node');
  const { name: nodeName, uid: nodeUid } = node.metadata;
  return { nodeName, nodeUid, bootId: node.status?.nodeInfo?.bootID ?? '' };
}
