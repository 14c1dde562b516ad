import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../documents.ts';

/** What npm says of a package that it has packed. */
export interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

export interface PackageJson {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** What the apps of `examples/` have besides. */
const OF_EXAMPLES = { 'cdk8s-plus-28': '' };

/**
 * Packs the package as it has been built and unpacks it into the `node_modules` of an app, as npm would; with what it says that it needs,
 * and no other of the packages that are installed here.
 * @param app folder of the app
 */
export function installPacked(app: string): Packed {
  const installed = join(app, 'node_modules', 'cdk8s-brupop');
  // What prepack builds has been built.
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', app];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8' })) as [Packed];
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(app, packed.filename), '--strip-components=1', '-C', installed]);
  const text = readFileSync(join(installed, 'package.json'), 'utf8');
  const { dependencies, peerDependencies } = JSON.parse(text) as PackageJson;
  for (const name of Object.keys({ ...dependencies, ...peerDependencies, ...OF_EXAMPLES })) {
    const link = join(app, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(realpathSync(join(ROOT, 'node_modules', name)), link);
  }
  return packed;
}
