import { z } from 'zod';
import { TOKEN_AUDIENCE } from '../../shadow/names.ts';
import { agentUser } from './claims.ts';

/** What the kubelet's tokens say of themselves. */
const said = z.object({
  aud: z.union([z.string(), z.array(z.string())]),
  sub: z.string(),
  'kubernetes.io': z.object({ pod: z.object({ uid: z.string().min(1) }).optional() }),
});

/**
 * Why no review could find `token` to be an agent's; undefined where one has to be asked for. Nothing that a token says of itself is
 * believed: this only spares the API server what it would refuse. Whether a token has ended is left to the API server's clock.
 * @param namespace the operator's own
 */
export function whyHopeless(token: string, namespace: string): string | undefined {
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
    return JSON.parse(Buffer.from(payload, 'base64url').toString());
  } catch {
    return undefined;
  }
}
