import { z } from 'zod';
import { TOKEN_AUDIENCE } from '../../shadow/names.ts';
import { agentUser } from './claims.ts';

/** What the kubelet's tokens say of themselves. */
const said = z.object({
  aud: z.union([z.string(), z.array(z.string())]),
  sub: z.string(),
  /** Seconds since the Unix epoch. */
  exp: z.number(),
  'kubernetes.io': z.object({ pod: z.object({ uid: z.string().min(1) }).optional() }),
});

/** The API server takes a token for a minute after its end; the rest is for clocks that differ. */
const GRACE_MS = 10 * 60_000;

export interface Circumstances {
  /** The operator's own namespace. */
  readonly namespace: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/**
 * Why no review could find `token` to be an agent's; undefined where one has to be asked for. Nothing that a token says of itself is
 * believed: this only spares the API server what it would refuse.
 */
export function whyHopeless(token: string, { namespace, now }: Circumstances): string | undefined {
  const parsed = said.safeParse(payloadOf(token));
  if (!parsed.success) return 'the token is none of a service account';
  const { aud, sub, exp, 'kubernetes.io': bound } = parsed.data;
  if (![aud].flat().includes(TOKEN_AUDIENCE)) return 'the token is for another audience';
  if (sub !== agentUser(namespace)) return "the token is not of the agents' service account";
  if (exp * 1000 + GRACE_MS < now) return 'the token has expired';
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
