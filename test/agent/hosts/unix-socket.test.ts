import { readdir, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { readBootId } from '../../../runtime/agent/drivers.ts';
import { Bottlerocket } from '../../../runtime/agent/hosts/bottlerocket/bottlerocket.ts';
import { UnixSocketTransport } from '../../../runtime/agent/hosts/bottlerocket/unix-socket.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { SimulatedHost } from '../../../lab/sim/hosts/host.ts';
import { Releases } from '../../../lab/sim/hosts/releases.ts';
import { HostSocket } from '../../../lab/sim/hosts/socket.ts';
import { seeded } from '../../random.ts';
import { folder } from '../../folder.ts';

const TIMES = { refreshMs: 30, prepareMs: 60, rebootMs: 50, shutdownMs: 10 };

describe('over a real unix socket', () => {
  let socketPath: string;
  let bootIdPath: string;
  const life = new AbortController();
  const sockets: HostSocket[] = [];
  beforeEach(async () => {
    socketPath = path.join(folder, 'api.sock');
    bootIdPath = path.join(folder, 'boot_id');
  });
  afterEach(async () => {
    await Promise.all(sockets.splice(0).map((socket) => socket.stop()));
  });
  afterAll(() => life.abort());

  async function world() {
    const random = seeded(1);
    const releases = new Releases(['1.38.0', '1.39.0']);
    const host = new SimulatedHost({ clock: systemClock, random, releases, version: '1.38.0', times: TIMES });
    const socket = new HostSocket(host, socketPath);
    sockets.push(socket);
    host.start(life.signal);
    await socket.start();
    const transport = new UnixSocketTransport(socketPath, systemClock);
    const driver = new Bottlerocket({
      transport,
      random,
      clock: systemClock,
      readBootId: () => readBootId(bootIdPath),
    });
    return { host, socket, transport, driver };
  }

  function silentServer(): Promise<Server> {
    return new Promise((resolve) => {
      const server = createServer((connection) => connection.resume());
      server.listen(socketPath, () => resolve(server));
    });
  }

  test('settings are changed, also by the answer that has a body where HTTP allows none', async () => {
    const { driver, host, transport } = await world();
    await driver.lock.commit({ version_lock: '1.37.0', ignore_waves: true });
    expect(await driver.lock.read()).toEqual({ version_lock: '1.37.0', ignore_waves: true });
    const apply = '/tx/apply?keys=settings.updates.version-lock';
    expect(await transport.request({ method: 'POST', path: apply, timeoutMs: 1000 })).toMatchObject({ status: 204 });
    await driver.lock.apply({ version_lock: '1.37.0' });
    while (host.settings.rendered['version-lock'] !== '1.37.0') await systemClock.sleep(20);
  });

  test('a host is updated, and its socket comes and goes with it', async () => {
    const { host, socket, driver } = await world();
    expect((await stat(socketPath)).mode & 0o777).toBe(0o660);
    await driver.refresh();
    await driver.prepare('1.39.0');
    await driver.activate('1.39.0');
    const up = new Promise((resolve) => void host.observe({ onUp: resolve }));
    await driver.reboot();
    await up;
    expect(await driver.os()).toEqual({ version: '1.39.0', variant: 'aws-k8s-1.33', arch: 'x86_64' });
    await socket.stop();
    expect(await readdir(folder)).toEqual([]);
  });

  test('a reboot that drops the connection, and an answer that breaks off, look like what they are', async () => {
    const { host, transport, driver } = await world();
    host.inject('truncated');
    const broken = transport.request({ method: 'GET', path: '/os', timeoutMs: 5000 });
    await expect(broken).rejects.toMatchObject({ name: 'HostUnreachableError', code: 'ECONNRESET' });
    host.clear('truncated');
    host.inject('reboot-dropped');
    await driver.reboot();
  });

  test('an action whose answer never comes has begun all the same; a socket that is not to be used breaks connections', async () => {
    const { host, transport } = await world();
    host.inject('half-open');
    const lost = transport.request({ method: 'POST', path: '/actions/refresh-updates', timeoutMs: 50 });
    await expect(lost).rejects.toMatchObject({ code: 'ETIMEDOUT', unsent: false });
    expect(host.requests.get('POST /actions/refresh-updates')).toBe(1);
    host.inject('denied');
    const denied = transport.request({ method: 'GET', path: '/os', timeoutMs: 5000 });
    await expect(denied).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('no socket file, and a socket file without a server, are told apart from a lost answer', async () => {
    const transport = new UnixSocketTransport(socketPath, systemClock);
    const ask = () => transport.request({ method: 'GET', path: '/os', timeoutMs: 5000 });
    await expect(ask()).rejects.toMatchObject({ code: 'ENOENT', socketDead: true, unsent: true });
    await writeFile(socketPath, '');
    await expect(ask()).rejects.toMatchObject({ code: 'ECONNREFUSED', socketDead: true });
  });

  test('a connection that is never answered ends after its time, or with its signal', async () => {
    const server = await silentServer();
    const transport = new UnixSocketTransport(socketPath, systemClock);
    const ask = (timeoutMs: number, signal?: AbortSignal) =>
      transport.request({ method: 'GET', path: '/os', timeoutMs, signal });
    await expect(ask(20)).rejects.toMatchObject({ code: 'ETIMEDOUT', unsent: false });
    const stop = new AbortController();
    const asked = expect(ask(60_000, stop.signal)).rejects.toThrow('enough');
    server.once('connection', () => stop.abort(new Error('enough')));
    await asked;
    await new Promise((resolve) => server.close(resolve));
  });

  test('the boot id is read afresh, and an empty one refused', async () => {
    await expect(readBootId(bootIdPath)).rejects.toThrow(/cannot be read \(ENOENT\)/);
    await writeFile(bootIdPath, '0b9f6a4e-8a3e-4d6f-a0a1-2f6d0c1c9d11\n');
    expect(await readBootId(bootIdPath)).toBe('0b9f6a4e-8a3e-4d6f-a0a1-2f6d0c1c9d11');
    await writeFile(bootIdPath, '\n');
    await expect(readBootId(bootIdPath)).rejects.toThrow('empty');
  });
});
