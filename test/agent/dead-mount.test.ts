import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { agentEnv, readAgentConfig } from '../../runtime/agent/config.ts';
import { runAgent } from '../../runtime/agent/run.ts';
import { type Clock, systemClock } from '../../runtime/lib/clock.ts';
import { runProcess } from '../../runtime/lib/process.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { serveCluster, type ServedCluster } from '../../lab/sim/cluster/https.ts';
import { inTime } from '../in-time.ts';
import { seeded } from '../random.ts';
import { shared } from '../folder.ts';

/** A minute without a socket lasts two seconds. */
const HURRY = 30;
const hurried: Clock = {
  now: () => systemClock.now() * HURRY,
  monotonic: () => systemClock.monotonic() * HURRY,
  sleep: (ms, signal) => systemClock.sleep(ms / HURRY, signal),
};

let served: ServedCluster;
beforeAll(async () => {
  const cluster = new EmbeddedCluster({ clock: systemClock, random: seeded(1) });
  served = await serveCluster(cluster);
  const { users } = JSON.parse(served.kubeconfig(ADMIN)) as { users: [{ user: { token: string } }] };
  const files = {
    namespace: 'ns',
    token: users[0].user.token,
    'ca.crt': served.caPem,
    boot_id: 'boot-1',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(shared, name), text);
});
afterAll(async () => {
  await served.close();
});

test('an agent whose mounted socket file was unlinked says so in its termination log and exits with 0', async () => {
  // An open file stands for the mount: one sees it also when it has no name any more.
  const socket = await open(join(shared, 'api.sock'), 'w');
  await rm(join(shared, 'api.sock'));
  const written = new Map<string, string>();
  const exited = Promise.withResolvers<number>();
  let end = (_signal: string): void => undefined;
  const env = {
    MY_NODE_NAME: 'n1',
    KUBERNETES_SERVICE_HOST: '127.0.0.1',
    KUBERNETES_SERVICE_PORT: new URL(served.url).port,
    SERVICE_ACCOUNT_DIR: shared,
    BOTTLEROCKET_API_SOCKET: `/proc/self/fd/${socket.fd}`,
    BOOT_ID_PATH: join(shared, 'boot_id'),
    TERMINATION_LOG: '/dev/termination-log',
    HTTP_PORT: '0',
  };
  const running = runProcess(
    { name: 'brupop-agent', summary: '', env: agentEnv, read: readAgentConfig, run: runAgent },
    {
      args: [],
      env,
      clock: hurried,
      random: seeded(2),
      out: () => undefined,
      err: () => undefined,
      writeFile: (path, text) => void written.set(path, text),
      onSignal: (listener) => void (end = listener),
      exit: exited.resolve,
    },
  );
  try {
    expect(await inTime('the end of the agent', exited.promise)).toBe(0);
    expect(written.get('/dev/termination-log')).toMatch(
      /^GET \/os: no answer \(ESTALE\): the mount of the host's socket is dead/,
    );
  } finally {
    // Here the process lives on, and with it its probes.
    end('SIGTERM');
    await inTime('the end of the agent by SIGTERM', running);
    await socket.close();
  }
});
