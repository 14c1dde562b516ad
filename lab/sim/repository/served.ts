import { once } from 'node:events';
import { createServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { createCa } from '../cluster/pki.ts';

/** Answers what is no file. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface Served {
  readonly url: string;
  readonly ca: string;
  /** By path. */
  files: Map<string, string | Answer>;
  /** Paths that were asked for. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** A server with a certificate for `localhost`. */
export async function served(): Promise<Served> {
  const authority = await createCa(systemClock, 'repository-ca');
  const { certPem, keyPem } = await authority.issue({ commonName: 'localhost', dnsNames: ['localhost'] });
  const asked: string[] = [];
  const server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    const { url: path = '' } = request;
    asked.push(path);
    const found = made.files.get(path);
    if (typeof found === 'function') return found(request, response);
    response.writeHead(found === undefined ? 404 : 200);
    return response.end(found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made: Served = {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    ca: authority.certPem,
    files: new Map(),
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return made;
}
