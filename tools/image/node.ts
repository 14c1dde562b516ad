import { type Downloads, inTemporaryFolder } from './downloads.ts';
import type { Lock } from './lock.ts';
import { fetchPackage, packPackage } from './npm.ts';
import { type Arch, PLATFORMS, type Platform } from './platforms.ts';

/** npm's tarball with Node for a platform. @throws WrongDigestError, or Error where npm cannot fetch it */
export function fetchNode({ node }: Lock, platform: Platform, downloads: Downloads): Promise<string> {
  return fetchPackage(`${platform.nodePackage}@${node.version}`, node.integrity[platform.arch], downloads);
}

/** What npm gives out for a version of Node today. */
export async function lockNode(version: string): Promise<Lock['node']> {
  const entries = PLATFORMS.map(async ({ arch, nodePackage }) => {
    const integrity = await inTemporaryFolder((dir) => packPackage(`${nodePackage}@${version}`, dir));
    return [arch, integrity] as const;
  });
  return { version, integrity: Object.fromEntries(await Promise.all(entries)) as Record<Arch, string> };
}
