import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentApiClient } from '../../../runtime/agent/apiserver/client.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import type { Endpoint } from './replica.ts';
import type { Identity } from './stand.ts';

/** Has a node drained as its agent does, which asks again for as long as it is told to. Whether it was. */
export async function drainAs({ nodeName, nodeUid, token }: Identity, endpoint: Endpoint): Promise<boolean> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-bench-'));
  const [caPath, tokenPath] = [join(dir, 'ca.crt'), join(dir, 'token')];
  await writeFile(caPath, endpoint.caPem);
  await writeFile(tokenPath, token);
  const { port, servername } = endpoint;
  const api = agentApiClient({ host: '127.0.0.1', port, servername, caPath, tokenPath, clock: systemClock });
  try {
    for (;;) {
      const { kind } = await api.act({ nodeName, nodeUid, bootId: 'boot-1' }, 'cordonAndDrain');
      if (kind !== 'again') return kind === 'ok';
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
