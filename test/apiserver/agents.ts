import {
  AGENT_SERVICE_ACCOUNT,
  COMPONENT_LABEL,
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE,
  TOKEN_AUDIENCE,
} from '../../runtime/shadow/names.ts';
import type { World } from './world.ts';

/** The service accounts of agents, here and in a namespace that is none of ours, and that of the controller. */
export async function addAccounts(world: World): Promise<void> {
  for (const [namespace, name] of [
    [NAMESPACE, AGENT_SERVICE_ACCOUNT],
    [NAMESPACE, CONTROLLER_SERVICE_ACCOUNT],
    ['shop', AGENT_SERVICE_ACCOUNT],
  ]) {
    await world.post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  }
}

export interface AgentPod {
  readonly namespace?: string;
  readonly component?: string;
  readonly account?: string;
}

/** A DaemonSet's pod on `n1`. */
export async function addAgentPod(world: World, name: string, pod: AgentPod = {}): Promise<void> {
  const { namespace = NAMESPACE, component = 'agent', account = AGENT_SERVICE_ACCOUNT } = pod;
  await world.addPod(name, { namespace, account, labels: { [COMPONENT_LABEL]: component }, owner: `owner-of-${name}` });
}

export interface TokenOptions {
  readonly namespace?: string;
  readonly account?: string;
  readonly audience?: string;
  /** Name of the pod that the token is bound to; null = to none. */
  readonly pod?: string | null;
}

/** A token as the kubelet projects it, good for an hour. */
export async function projectedToken(world: World, options: TokenOptions = {}): Promise<string> {
  const {
    namespace = NAMESPACE,
    account = AGENT_SERVICE_ACCOUNT,
    audience = TOKEN_AUDIENCE,
    pod = 'agent-1',
  } = options;
  const spec = {
    audiences: [audience],
    expirationSeconds: 3600,
    ...(pod && { boundObjectRef: await refTo(world, namespace, pod) }),
  };
  const answer = await world.post(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, { spec });
  return (answer as unknown as { status: { token: string } }).status.token;
}

async function refTo(world: World, namespace: string, name: string): Promise<object> {
  const { metadata } = (await world.get(`/api/v1/namespaces/${namespace}/pods/${name}`)) as {
    metadata: { uid: string };
  };
  return { apiVersion: 'v1', kind: 'Pod', name, uid: metadata.uid };
}
