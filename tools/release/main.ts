import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { imageProps, imageReference } from '../../infra/props/image.ts';
import { rfc3339, systemClock } from '../../runtime/lib/clock.ts';
import { findCrane } from '../image/crane.ts';
import { writeAssets } from './assets.ts';
import { pushChart } from './chart-artifact.ts';
import { faultsOf } from './check.ts';
import { targetNamed, writeExecutables } from './executables.ts';
import { writeFixed } from './fixed.ts';
import { writeNotices } from './notices.ts';
import { createRelease, publishPackage } from './publish.ts';
import { login, sign, signatures } from './registry.ts';
import { packageVersion, writeVersion } from './version.ts';

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
  npm run release -- sign WHAT    signs the image, or the files, by the identity of a workflow
  npm run release -- npm          publishes the package, unless npm has it
  npm run release -- github       creates the release with its files, or brings those of one that is there
  npm run release -- chart        pushes the chart to the image's registry
  npm run release -- notices      the licences of what is bundled, into build; npm run build calls it
  npm run release -- version      brings what states the version to package.json's; npm version calls it
  npm run release -- fixed        keeps what the next release may not change; npm version calls it
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
  sign: async (what) => {
    const digest = (await readFile(join(IMAGE, 'digest'), 'utf8')).trim();
    const commands = signatures(REFERENCE, digest, join(OUT, 'SHA256SUMS'));
    const command = Object.hasOwn(commands, what) ? commands[what as keyof typeof commands] : undefined;
    if (!command) throw new Error(`sign: expected image or files, got "${what}"`);
    await sign(command);
  },
  npm: async () => publishPackage(OUT, await packageVersion(ROOT)),
  github: async () => createRelease(OUT, await packageVersion(ROOT)),
  chart: async () => {
    const version = await packageVersion(ROOT);
    const { crane } = await findCrane(process.env);
    const [host = '', owner = ''] = REFERENCE.split('/');
    await pushChart(crane, join(OUT, `brupop-${version}.tgz`), `${host}/${owner}/charts/brupop:${version}`);
  },
  notices: () => writeNotices(ROOT),
  fixed: () => writeFixed(ROOT),
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
