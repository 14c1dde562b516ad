import { request } from 'node:https';
import type { ClusterAccess } from '../../../runtime/kube/access.ts';

export interface Exchange {
  readonly method?: string;
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** An answer as it came over the wire. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** One request on a connection of its own, with its status and headers; for what a transport hides. Rejects when no answer came. */
export async function exchange(
  access: ClusterAccess,
  { method = 'GET', path, headers, body }: Exchange,
): Promise<Answer> {
  const { tls, headers: identity } = await access.credentials();
  const content = body === undefined ? '' : JSON.stringify(body);
  const about = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(content)) };
  const options = { ...tls, agent: false, method, path, headers: { ...about, ...headers, ...identity } };
  return new Promise((resolve, reject) => {
    const outgoing = request(access.server, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(content);
  });
}
