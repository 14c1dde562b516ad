import { createServer, connect, type AddressInfo, type Socket } from 'node:net';

/** A Service's address on this machine: TCP connections go to its ready endpoints in turn, as kube-proxy would send them. */
export interface ServiceAddress {
  readonly port: number;
  /** Replaces the endpoints. Connections that stand are left alone. */
  setEndpoints(ports: readonly number[]): void;
  close(): Promise<void>;
}

/** Listens on an address of this machine. Without endpoints a connection is refused by closing it. @param port 0 for a free one */
export async function serveService(host = '127.0.0.1', port = 0): Promise<ServiceAddress> {
  let endpoints: readonly number[] = [];
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const endpoint = endpoints[turn++ % Math.max(1, endpoints.length)];
    if (endpoint === undefined) {
      client.destroy();
      return;
    }
    const upstream = connect({ port: endpoint, host: '127.0.0.1' });
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    }
    join(client, upstream);
    join(upstream, client);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    setEndpoints: (ports) => {
      endpoints = ports;
    },
    close: () => {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Data and ends of `from` reach `to`; a broken side breaks the other. */
function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
}
