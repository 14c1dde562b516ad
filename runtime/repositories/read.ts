import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type Fetcher, Updater } from 'tuf-js';
import { jsonObject } from '../lib/json.ts';
import { shortened } from '../lib/parts.ts';
import { FetchError, fetchFile, type FetchOptions, MAX_BYTES } from './fetch.ts';
import { listedIn } from './manifest.ts';
import { type Reading, READING_MS, type Request, type Seen } from './protocol.ts';

/** More than it takes for a root of many years ago. */
const NEWER_ROOTS = 16;
/** Bytes of the reason. */
const LONGEST_WHY = 300;

interface ReadOptions extends Pick<FetchOptions, 'env' | 'lookup'> {
  /** For as long as it may take. @default half a minute */
  readonly ms?: number;
}

/** Reads a repository once: as hosts do, nothing of it counts that is not signed, expired, or older than what was read before. */
export async function readRepository(request: Request, { ms = READING_MS, ...options }: ReadOptions): Promise<Reading> {
  let folder: string;
  try {
    folder = await mkdtemp(join(request.folder, 'reading-'));
  } catch (error) {
    return { kind: 'failed', why: `no place to read it into: ${(error as Error).message}` };
  }
  const signal = AbortSignal.timeout(ms);
  try {
    return await readInto(folder, request, { ...options, signal, ca: request.ca });
  } catch (error) {
    return { kind: 'failed', why: signal.aborted ? `no answer within ${ms / 1000} s` : whyOf(error) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readInto(folder: string, request: Request, options: FetchOptions): Promise<Reading> {
  const fetch = (url: string): Promise<Buffer> => fetchFile(url, options);
  await writeFile(join(folder, 'root.json'), await trustedRoot(request.root, fetch));
  const config = { maxRootRotations: NEWER_ROOTS, maxDelegations: 0 };
  const metadataBaseUrl = request.metadata.replace(/\/+$/, '');
  const updater = new Updater({ metadataDir: folder, metadataBaseUrl, fetcher: fetcherBy(fetch), config });
  await updater.refresh();
  const seen = await seenIn(folder);
  expectNoRollback(request.seen, seen);
  const target = await updater.getTargetInfo('manifest.json');
  const hash = target?.hashes['sha256'];
  if (!target || hash === undefined) throw new FetchError('it has no manifest.json');
  const manifest = await fetch(`${request.targets.replace(/\/+$/, '')}/${hash}.manifest.json`);
  await target.verify(Readable.from([manifest]));
  const root = await readFile(join(folder, 'root.json'), 'utf8');
  return { kind: 'read', versions: listedIn(manifest, request), root, seen };
}

/** The lengths that tuf-js names may be those of the repository's own metadata, so they are not what bounds a file. */
const fetcherBy = (fetch: (url: string) => Promise<Buffer>): Fetcher => ({
  downloadBytes: async (url, maxLength) => {
    const bytes = await fetch(url);
    if (bytes.length > Math.min(maxLength, MAX_BYTES)) throw new FetchError('a file is longer than it may be');
    return bytes;
  },
  downloadFile: () => Promise.reject(new FetchError('nothing is downloaded to disk')),
});

async function trustedRoot(root: Request['root'], fetch: (url: string) => Promise<Buffer>): Promise<string | Buffer> {
  if (typeof root === 'string') return root;
  const bytes = await fetch(root.url);
  const found = createHash('sha512').update(bytes).digest('hex');
  if (found !== root.sha512) throw new FetchError(`the root at ${root.url} is not that of rootSha512`);
  return bytes;
}

const ROLES = ['timestamp', 'snapshot', 'targets'] as const;

async function seenIn(folder: string): Promise<Seen> {
  const [timestamp, snapshot, targets] = await Promise.all(
    ROLES.map(async (role) => {
      const { signed } = jsonObject(await readFile(join(folder, `${role}.json`), 'utf8')) as {
        signed?: { version?: unknown };
      };
      return Number(signed?.version);
    }),
  );
  return { timestamp: timestamp ?? 0, snapshot: snapshot ?? 0, targets: targets ?? 0 };
}

/** Each reading begins in an empty folder, so that the versions that were read before are compared here. */
function expectNoRollback(before: Seen, now: Seen): void {
  const back = ROLES.find((role) => now[role] < before[role]);
  if (back !== undefined)
    throw new FetchError(`it was rolled back: its ${back} is version ${now[back]}, and was ${before[back]}`);
}

function whyOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const said = code === undefined || error instanceof FetchError ? message : `no answer (${code})`;
  return shortened(said.replaceAll(/\s+/g, ' '), LONGEST_WHY);
}
