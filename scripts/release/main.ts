import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageProps, imageReference } from '../../infra/props/image.ts';
import { rfc3339, systemClock } from '../../runtime/lib/clock.ts';
import { writeAssets } from './assets.ts';
import { faultsOf } from './check.ts';
import { targetNamed, writeExecutables } from './executables.ts';
import { login, sign, signatures } from './registry.ts';
import { writeVersion } from './version.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const IMAGE = join(ROOT, 'build/image');
const EXECUTABLES = join(ROOT, 'build/executables');
const OUT = join(ROOT, 'build/release');
/** The image as the manifests name it. */
const REFERENCE = imageReference(imageProps.parse({}));

const HELP = `The steps of a release, as docs/releasing.md tells of them.

  npm run release -- check TAG    whether this commit can be released under a tag
  npm run release -- reference    the image as the manifests name it
  npm run release -- executables  kubectl-brupop with a Node of its own, for all machines, into build/executables;
                                  with a name, e.g. linux-x64, for one
  npm run release -- assets       the files of the release, into build/release
  npm run release -- login USER   takes the password of the image's registry from the standard input
  npm run release -- sign         signs the image and the files, by the identity of a workflow
  npm run release -- version      brings what states the version to package.json's; npm version calls it
`;

const STEPS: Readonly<Record<string, (argument: string) => Promise<void>>> = {
  check: async (tag) => {
    const faults = await faultsOf(ROOT, tag);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  },
  reference: async () => void process.stdout.write(`${REFERENCE}\n`),
  executables: (name) =>
    writeExecutables({ root: ROOT, out: EXECUTABLES, ...(name !== '' && { targets: [targetNamed(name)] }) }),
  assets: () => writeAssets({ root: ROOT, image: IMAGE, executables: EXECUTABLES, out: OUT }),
  login: (user) => login(REFERENCE, user),
  sign: async () => {
    const digest = (await readFile(join(IMAGE, 'digest'), 'utf8')).trim();
    await sign(signatures(REFERENCE, digest, join(OUT, 'SHA256SUMS')));
  },
  version: () => writeVersion(ROOT, rfc3339(systemClock.now()).slice(0, 'YYYY-MM-DD'.length)),
};

const [verb = '', argument = ''] = process.argv.slice(2);
const step = Object.hasOwn(STEPS, verb) ? STEPS[verb] : undefined;
try {
  if (!step) throw new Error(HELP);
  await step(argument);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'failed'}\n`);
  process.exitCode = 1;
}
