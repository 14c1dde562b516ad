import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { bridge } from './bridge.ts';
import type { ControlPlane } from './controlplane.ts';
import { ownFolder } from './folder.ts';

/**
 * Runs what runs inside of the namespaces such that everybody on this machine can reach its API server: `present`, called there with the
 * environment that this gives, completes it. Resolves with what `run` does.
 */
export async function withBridge(run: (env: NodeJS.ProcessEnv) => Promise<number>): Promise<number> {
  const folder = await ownFolder('bridge');
  const socket = join(folder.dir, 'api.sock');
  const server = await bridge({ port: 0, host: '127.0.0.1' }, { path: socket });
  const { port } = server.address() as AddressInfo;
  try {
    return await run({ ...process.env, BRIDGE_SOCKET: socket, BRIDGE_PORT: String(port) });
  } finally {
    server.close();
    await folder.remove();
  }
}

/** Makes the API server reachable from outside of the namespaces. Resolves with the file of a kubeconfig that is good there. */
export async function present(
  { url, kubeconfig }: Pick<ControlPlane, 'url' | 'kubeconfig'>,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { BRIDGE_SOCKET: path = '', BRIDGE_PORT: port = '' } = env;
  const { port: apiPort } = new URL(url);
  const server = await bridge({ path }, { host: '127.0.0.1', port: Number(apiPort) });
  server.unref();
  const file = join(dirname(path), 'kubeconfig');
  const text = (await readFile(kubeconfig, 'utf8')).replace(url, `https://127.0.0.1:${port}`);
  await writeFile(file, text, { mode: 0o600 });
  return file;
}
