import { beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { debianContents } from '../../tools/image/contents.ts';
import { Downloads, WrongDigestError } from '../../tools/image/downloads.ts';
import { type DebianPin, readLock } from '../../tools/image/lock.ts';
import { fetchDebian, PinGoneError, type Wanted } from '../../tools/image/materials.ts';
import { PLATFORMS } from '../../tools/image/platforms.ts';
import { folder } from '../folder.ts';

let warnings: string[];
/** What was downloaded, as `name version`. */
let downloaded: string[];
beforeEach(async () => {
  warnings = [];
  downloaded = [];
});

const pin = (version: string): DebianPin => ({ version, sha256: createHash('sha256').update(version).digest('hex') });

/** A mirror that has one version of each package, whose file holds its version, or something else. */
function mirror(version: string, content = version): Wanted['archive'] {
  return {
    has: async (_, asked) => asked === version,
    newest: async () => pin(version),
    download: async (name, asked, into) => {
      downloaded.push(`${name} ${asked}`);
      await writeFile(join(into, `${name}.deb`), content);
    },
  };
}

async function fetch(archive: Wanted['archive'], whenGone: 'newest' | 'refuse' = 'newest') {
  const downloads = new Downloads({ XDG_CACHE_HOME: folder });
  const wanted = { name: 'libc6', pinned: pin('1'), archive };
  const found = await fetchDebian(wanted, {
    lock: await readLock(),
    downloads,
    whenGone,
    warn: (line) => warnings.push(line),
  });
  return { ...found, content: await readFile(found.file, 'utf8') };
}

describe('a pinned package', () => {
  test('is fetched once, and is still there when its mirror has dropped it', async () => {
    expect(await fetch(mirror('1'))).toMatchObject({ version: '1', content: '1' });
    expect(await fetch(mirror('2'), 'refuse')).toMatchObject({ version: '1', content: '1' });
    expect(downloaded).toEqual(['libc6 1']);
    expect(warnings).toEqual([]);
  });

  test('that its mirror has dropped gives way to the newest, which is said', async () => {
    expect(await fetch(mirror('2'))).toMatchObject({ ...pin('2'), content: '2' });
    expect(warnings).toEqual([expect.stringMatching(/libc6 1 .*has 2 in its place/)]);
  });

  test('that its mirror has dropped ends a release', async () => {
    await expect(fetch(mirror('2'), 'refuse')).rejects.toThrow(PinGoneError);
    expect(downloaded).toEqual([]);
  });

  test('is refused, and not kept, where another file goes by its version', async () => {
    await expect(fetch(mirror('1', 'evil'))).rejects.toThrow(WrongDigestError);
    expect(await readdir(folder)).toEqual([]);
  });

  test('is fetched anew where what was kept of it is damaged', async () => {
    const { file } = await fetch(mirror('1'));
    await writeFile(file, 'damaged');
    expect(await fetch(mirror('1'))).toMatchObject({ content: '1' });
  });
});

describe('tools/image/lock.json', () => {
  test('has the Node on which the project runs', async () => {
    const { devDependencies } = JSON.parse(await readFile('package.json', 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    expect((await readLock()).node.version).toBe(devDependencies['node']);
  });

  test.each(PLATFORMS)('pins what the image takes of Debian, and nothing else: $arch', async (platform) => {
    const { debian } = await readLock();
    const pinned = Object.keys(debian.packages).filter((name) => debian.packages[name]?.[platform.arch]);
    expect(pinned).toEqual(debianContents(platform).map(({ name }) => name));
  });
});
