import * as z from 'zod';
import { isPodTerminal, type Pod } from '../../kube/objects.ts';
import type { TokenReviewStatus } from '../../kube/reviews.ts';
import { boundedJson } from '../../lib/json.ts';
import { AGENT_SERVICE_ACCOUNT, COMPONENT_LABEL, COMPONENTS, TOKEN_AUDIENCE } from '../../api/shadow/names.ts';

/** What a token proves of its holder. */
export interface Claims {
  readonly podName: string;
  readonly podUid: string;
  /** Only newer clusters say these two. */
  readonly nodeName: string | undefined;
  readonly nodeUid: string | undefined;
}

/** Name of the user that all agents of an operator in `namespace` are. */
const agentUser = (namespace: string): string => `system:serviceaccount:${namespace}:${AGENT_SERVICE_ACCOUNT}`;

/**
 * The claims of an agent's token, or why it is not an agent's. Any pod may project a token with any audience, and pod names repeat across
 * namespaces. So the service account is checked, which names the namespace, and the pod by its UID.
 */
export function agentClaims(review: TokenReviewStatus, namespace: string): Claims | string {
  if (review.authenticated !== true) return 'the token is not valid';
  if (!review.audiences?.includes(TOKEN_AUDIENCE)) return 'the token is for another audience';
  if (review.user?.username !== agentUser(namespace)) return "the token is not of the agents' service account";
  const names = ['pod-name', 'pod-uid', 'node-name', 'node-uid'] as const;
  const extras = names.map((name) => review.user?.extra?.[`authentication.kubernetes.io/${name}`] ?? []);
  if (extras.some((values) => values.length > 1)) return 'the token is bound to several pods or nodes';
  const [podName, podUid, nodeName, nodeUid] = extras.map(([value]) => value);
  if (!podName || !podUid) return 'the token is not bound to a pod';
  return { podName, podUid, nodeName, nodeUid };
}

/** The node on which the pod of these claims runs as an agent, or why it is no agent's pod. */
export function agentNode(pod: Pod | undefined, claims: Claims): { readonly nodeName: string } | string {
  if (pod?.metadata.uid !== claims.podUid) return 'the pod of the token is gone';
  if (pod.metadata.labels?.[COMPONENT_LABEL] !== COMPONENTS.agent) return 'the pod of the token is no agent';
  if (isPodTerminal(pod)) return 'the pod of the token has ended';
  const nodeName = pod.spec?.nodeName;
  if (nodeName === undefined) return 'the pod of the token is on no node';
  return (claims.nodeName ?? nodeName) === nodeName ? { nodeName } : 'the token is bound to another node';
}

/** What the tokens that a kubelet projects say of themselves. */
const said = z.object({
  aud: z.union([z.string(), z.array(z.string())]),
  sub: z.string(),
  'kubernetes.io': z.object({ pod: z.object({ uid: z.string().min(1) }).optional() }),
});

/**
 * Why a review of `token` could not find an agent; undefined where a review is needed. Nothing that a token says of itself is believed:
 * this only spares the API server requests that it would refuse. Whether a token has expired is decided by the API server, by its own
 * clock.
 * @param namespace the operator's own
 */
export function precheckToken(token: string, namespace: string): string | undefined {
  const parsed = said.safeParse(payloadOf(token));
  if (!parsed.success) return 'the token is none of a service account';
  const { aud, sub, 'kubernetes.io': bound } = parsed.data;
  if (![aud].flat().includes(TOKEN_AUDIENCE)) return 'the token is for another audience';
  if (sub !== agentUser(namespace)) return "the token is not of the agents' service account";
  return bound.pod === undefined ? 'the token is not bound to a pod' : undefined;
}

function payloadOf(token: string): unknown {
  const [, payload, signature] = token.split('.');
  if (!payload || !signature) return undefined;
  try {
    return boundedJson(Buffer.from(payload, 'base64url'));
  } catch {
    return undefined;
  }
}
