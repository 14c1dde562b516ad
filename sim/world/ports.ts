import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** Ports of loopback that were free a moment ago, all different. Somebody else may take one before its user does. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) await once(server.close(), 'close');
  return ports;
}
