import { connect, createServer, type ListenOptions, type NetConnectOpts, type Server } from 'node:net';

/**
 * Passes connections on. A unix socket is seen from every network namespace, so two of these carry a port of one namespace into
 * another. Resolves when it listens.
 */
export async function bridge(from: ListenOptions, to: NetConnectOpts): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(to);
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(from, resolve);
  });
  return server;
}
