import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { binaries } from './go/build.ts';

/** `npm run lab -- lint:workflows`: what the hosting service would refuse, and what its shells would trip over. */
const ACTIONLINT = { name: 'actionlint', module: 'actionlint', package: 'github.com/rhysd/actionlint/cmd/actionlint' };

const cwd = fileURLToPath(new URL('..', import.meta.url));
const progress = (line: string): void => void process.stderr.write(`${line}\n`);
const { actionlint = '' } = await binaries({ env: process.env, progress }, [ACTIONLINT]);
const { status } = spawnSync(actionlint, ['-no-color', ...globSync('.github/workflows/*.yml', { cwd })], {
  cwd,
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
