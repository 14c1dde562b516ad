import type { Pod } from '../../../runtime/kube/objects.ts';
import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';

export interface PodTokenOptions {
  readonly transport: KubeTransport;
  readonly clock: Pick<Clock, 'now'>;
  /** Makes of each token what the pod gets in its place; a test has shorter-lived ones. */
  readonly reissue?: ((token: string) => string) | undefined;
}

/** Who it is for; without an audience it is for the Kubernetes API. */
export interface TokenOf {
  readonly pod: Pod;
  readonly audience?: string | undefined;
  /** @default 3600, as for a volume that does not say */
  readonly expirationSeconds?: number | undefined;
}

const LIFE_SECONDS = 3600;
/** A kubelet asks for the next token when this part of a token's life is over. */
const RENEW_AFTER = 0.8;

/** The token of a pod's service account, as the kubelet keeps it: bound to the pod, asked for anew in good time. */
export class PodToken {
  readonly #options: PodTokenOptions;
  readonly #of: TokenOf;
  #token = '';
  /** Milliseconds since the Unix epoch. */
  #renewAt = -Infinity;

  constructor(of: TokenOf, options: PodTokenOptions) {
    this.#of = of;
    this.#options = options;
  }

  /** One that is good. @throws the transport's errors when a new one is due and cannot be had */
  async current(): Promise<string> {
    const { clock, transport, reissue = same } = this.#options;
    if (clock.now() < this.#renewAt) return this.#token;
    this.#token = reissue(await request(this.#of, transport));
    const { iat, exp } = claimsOf(this.#token);
    // An API server may let the account's token live for a year, for who never reads it again; it is renewed as if not.
    const life = Math.min(exp - iat, this.#of.expirationSeconds ?? LIFE_SECONDS);
    this.#renewAt = (iat + life * RENEW_AFTER) * 1000;
    return this.#token;
  }
}

function same(token: string): string {
  return token;
}

function claimsOf(token: string): { readonly iat: number; readonly exp: number } {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number; exp: number };
}

async function request(
  { pod, audience, expirationSeconds = LIFE_SECONDS }: TokenOf,
  transport: KubeTransport,
): Promise<string> {
  const { name, namespace, uid } = pod.metadata;
  const accounts = collectionPath({ version: 'v1', plural: 'serviceaccounts', namespace });
  const answer = (await transport.request({
    method: 'POST',
    path: objectPath(accounts, pod.spec?.serviceAccountName ?? 'default', 'token'),
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        ...(audience && { audiences: [audience] }),
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid },
      },
    },
  })) as { status: { token: string } };
  return answer.status.token;
}
