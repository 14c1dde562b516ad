import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundledPackages, licenses } from '../image/bundled.ts';

/** Beside the bundles, and with them wherever they go. */
export const NOTICES = 'THIRD-PARTY-NOTICES.txt';

/** Writes the licence of each package of which something is in the bundles. @param root folder of the project, built */
export async function writeNotices(root: string): Promise<void> {
  await writeFile(join(root, 'build', NOTICES), licenses(await bundledPackages(root)));
}
