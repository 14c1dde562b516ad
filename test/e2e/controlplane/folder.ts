import { globSync } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A temporary folder of this process. */
export interface OwnFolder {
  readonly dir: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
}

const NAME = 'brupop-';
/** Its owner listens there. That is seen from every namespace and ends with the process, however it does; a process id does neither. */
const SOCKET = 'owner.sock';

/**
 * Makes a folder whose name begins with `brupop-` and `kind`, and removes those of all kinds whose owners were killed: they hold
 * credentials.
 * @param root where these folders are
 */
export async function ownFolder(kind: string, root: string = tmpdir()): Promise<OwnFolder> {
  for (const socket of globSync(`${NAME}*/${SOCKET}`, { cwd: root }).map((path) => join(root, path)))
    if (await isDead(socket)) await rm(dirname(socket), { recursive: true, force: true });
  const dir = await mkdtemp(join(root, `${NAME}${kind}-`));
  const server = createServer((client) => client.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(join(dir, 'starting.sock'), resolve);
  });
  // Not before it listens: nobody must find a socket there that refuses.
  await rename(join(dir, 'starting.sock'), join(dir, SOCKET));
  const remove = async (): Promise<void> => {
    // What was killed a moment ago may still be writing.
    await rm(dir, { recursive: true, force: true, maxRetries: 10 });
    server.close();
  };
  return { dir, remove };
}

/** False where that cannot be told, as of another user's. */
function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}
