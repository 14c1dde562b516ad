import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CONFIG = fileURLToPath(new URL('stryker.config.mjs', import.meta.url));

/** Fetched where it is used, not by each `npm ci`: nothing else needs it. */
const STRYKER = '--package=@stryker-mutator/core@10.0.0';

/** Mechanics: rules of several processes are in `lab/mutants`. */
const MODULES = [
  'runtime/kube/leader-election.ts',
  'runtime/controller/plan',
  'runtime/apiserver/drain',
  'runtime/drain',
  'runtime/api/marks',
  'runtime/apiserver/auth',
];

const HELP = `Changes the code in every small way that Stryker knows, and says which changes no test notices.

  npm run lab -- mutation          files of the modules below that are not as on main
  npm run lab -- mutation --all    all files of them
  npm run lab -- mutation PATH...  these files or folders below runtime/
  --concurrency N                  in so many processes at once, 1 on a machine that others use too

The tests are those at the same path below test/: test/kube/leader-election*.test.ts for runtime/kube/leader-election.ts, and where there are none,
all of the folder's. Properties try a tenth of their cases, unless TEST_DEPTH says otherwise. Modules: ${MODULES.join(', ')}
`;

async function main(args: string[]): Promise<number> {
  const options = { help: { type: 'boolean' }, all: { type: 'boolean' }, concurrency: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  if (values.help) return say(HELP);
  const paths = values.all ? MODULES : positionals.length > 0 ? positionals : changed();
  if (paths.length === 0) return say('no file of these modules is other than on main\n');
  const env = {
    TEST_DEPTH: '0.1',
    ...process.env,
    MUTATED: JSON.stringify(paths.map((path) => (isFolder(path) ? `${path}/**/*.ts` : path))),
    MUTATION_TESTS: JSON.stringify([...new Set(paths.map(testsOf))]),
  };
  const limit = values.concurrency === undefined ? [] : ['--concurrency', values.concurrency];
  const stryker = ['exec', '--yes', STRYKER, '--', 'stryker', 'run', CONFIG, ...limit];
  const child = spawn('npm', stryker, { cwd: ROOT, env, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

const git = (...words: string[]): string => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();

function changed(): readonly string[] {
  const names = git('diff', '--name-only', '--diff-filter=d', git('merge-base', 'main', 'HEAD'), '--', ...MODULES);
  return names.split('\n').filter((name) => name.endsWith('.ts'));
}

const isFolder = (path: string): boolean => statSync(join(ROOT, path)).isDirectory();

/** Of the nearest folder above that tests have: those of a room of the plan stand in that of the plan. */
function testsOf(path: string): string {
  let folder = (isFolder(path) ? path : dirname(path)).replace(/^runtime\//, 'test/');
  while (!existsSync(join(ROOT, folder))) folder = dirname(folder);
  const own = `${folder}/${basename(path, '.ts')}*.test.ts`;
  return !isFolder(path) && globSync(own, { cwd: ROOT }).length > 0 ? own : `${folder}/**/*.test.ts`;
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

process.exitCode = await main(process.argv.slice(2));
