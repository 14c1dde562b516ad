import {
  AGENT_SERVICE_ACCOUNT,
  COMPONENT_LABEL,
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE,
  TOKEN_AUDIENCE,
} from '../../runtime/api/shadow/names.ts';
import type { Objects } from './objects.ts';

/** The service accounts of agents, here and in a namespace that is none of ours, and that of the controller. */
export async function addAccounts(objects: Objects): Promise<void> {
  for (const [namespace, name] of [
    [NAMESPACE, AGENT_SERVICE_ACCOUNT],
    [NAMESPACE, CONTROLLER_SERVICE_ACCOUNT],
    ['shop', AGENT_SERVICE_ACCOUNT],
  ]) {
    await objects.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  }
}

export interface AgentPod {
  readonly namespace?: string;
  readonly component?: string;
  readonly account?: string;
  /** @default n1 */
  readonly node?: string;
}

/** A DaemonSet's pod. */
export async function addAgentPod(objects: Objects, name: string, pod: AgentPod = {}): Promise<void> {
  const { namespace = NAMESPACE, component = 'agent', account = AGENT_SERVICE_ACCOUNT, node = 'n1' } = pod;
  const labels = { [COMPONENT_LABEL]: component };
  await objects.addPod(name, { namespace, account, node, labels, owner: `owner-of-${name}` });
}

export interface TokenOptions {
  readonly namespace?: string;
  readonly account?: string;
  readonly audience?: string;
  /** Name of the pod that the token is bound to; null = to none. */
  readonly pod?: string | null;
}

/** A token as the kubelet projects it, good for an hour. */
export async function projectedToken(objects: Objects, options: TokenOptions = {}): Promise<string> {
  const {
    namespace = NAMESPACE,
    account = AGENT_SERVICE_ACCOUNT,
    audience = TOKEN_AUDIENCE,
    pod = 'agent-1',
  } = options;
  const spec = {
    audiences: [audience],
    expirationSeconds: 3600,
    ...(pod && { boundObjectRef: await refTo(objects, namespace, pod) }),
  };
  const answer = await objects.create(`/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`, { spec });
  return (answer as unknown as { status: { token: string } }).status.token;
}

async function refTo(objects: Objects, namespace: string, name: string): Promise<object> {
  const { metadata } = (await objects.get(`/api/v1/namespaces/${namespace}/pods/${name}`)) as {
    metadata: { uid: string };
  };
  return { apiVersion: 'v1', kind: 'Pod', name, uid: metadata.uid };
}
