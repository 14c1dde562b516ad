import { sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RealCluster } from './cluster.ts';

/**
 * Makes a service account token's life as short as a test needs it; the API itself issues none for less than ten minutes. All else about
 * it stays as the API server issued it, and it is signed with the API server's own key.
 * @param seconds its life from now on, by its own words: the API server accepts it for a minute longer
 */
export function shortLived({ dir }: RealCluster, seconds: number): (token: string) => string {
  const key = readFileSync(join(dir, 'pki', 'service-accounts.key'));
  return (token) => {
    const [header = '', payload = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { iat: number };
    const text = JSON.stringify({ ...claims, exp: claims.iat + seconds });
    const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
}
