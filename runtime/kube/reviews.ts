import type { TokenReview } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

export type TokenReviewStatus = NonNullable<TokenReview['status']>;

/** Asks the API server whose token this is. */
export interface TokenReviewPort {
  /** What the API server says of `token`. A bad token is no error but an answer: `authenticated` is false or absent. */
  review(token: string, audience: string): Promise<TokenReviewStatus>;
}

const GROUP = 'authentication.k8s.io';
const PATH = collectionPath({ group: GROUP, version: 'v1', plural: 'tokenreviews' });

export function tokenReviewPort(transport: KubeTransport): TokenReviewPort {
  return {
    async review(token, audience) {
      const spec = { token, audiences: [audience] } satisfies TokenReview['spec'];
      const body = { apiVersion: `${GROUP}/v1`, kind: 'TokenReview', spec };
      const answer = await transport.request({ method: 'POST', path: PATH, body });
      return (answer as TokenReview).status ?? {};
    },
  };
}
