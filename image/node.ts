import { type Digest, type Downloads, inTemporaryFolder } from './downloads.ts';
import type { Lock } from './lock.ts';
import { type Arch, PLATFORMS, type Platform } from './platforms.ts';
import { run } from './run.ts';

/** npm's tarball with Node for a platform. @throws WrongDigestError, or Error where npm cannot fetch it */
export function fetchNode({ node }: Lock, platform: Platform, downloads: Downloads): Promise<string> {
  const wanted = `${platform.nodePackage}@${node.version}`;
  return downloads.fetch(wanted, hexadecimal(node.integrity[platform.arch]), (dir) => pack(wanted, dir));
}

/** What npm gives out for a version of Node today. */
export async function lockNode(version: string): Promise<Lock['node']> {
  const entries = PLATFORMS.map(async ({ arch, nodePackage }) => {
    const integrity = await inTemporaryFolder((dir) => pack(`${nodePackage}@${version}`, dir));
    return [arch, integrity] as const;
  });
  return { version, integrity: Object.fromEntries(await Promise.all(entries)) as Record<Arch, string> };
}

async function pack(wanted: string, dir: string): Promise<string> {
  const printed = await run('npm', ['pack', wanted, '--json', '--pack-destination', dir], { cwd: dir });
  const [{ integrity }] = JSON.parse(printed) as [{ readonly integrity: string }];
  return integrity;
}

function hexadecimal(integrity: string): Digest {
  return { algorithm: 'sha512', value: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') };
}
