import { afterEach, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { type ServiceAddress, serveService } from '../../../sim/world/service.ts';
import { inTime } from '../../in-time.ts';

const servers: Server[] = [];
let service: ServiceAddress;

async function endpoint(name: string): Promise<number> {
  const server = createServer((socket) => socket.end(name));
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function ask(): Promise<string> {
  const socket = connect(service.port, '127.0.0.1');
  let text = '';
  socket.on('data', (data) => {
    text += String(data);
  });
  socket.on('error', () => undefined);
  await inTime('the end of the connection', once(socket, 'close'));
  return text;
}

afterEach(async () => {
  await service.close();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

test('connections go to the endpoints in turn', async () => {
  service = await serveService();
  service.setEndpoints([await endpoint('a'), await endpoint('b')]);
  expect([await ask(), await ask(), await ask()]).toEqual(['a', 'b', 'a']);
});

test('without an endpoint, or with a dead one, a connection is closed', async () => {
  service = await serveService();
  expect(await ask()).toBe('');
  const port = await endpoint('a');
  await new Promise((resolve) => servers.pop()!.close(resolve));
  service.setEndpoints([port]);
  expect(await ask()).toBe('');
});
