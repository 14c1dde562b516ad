import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** What the workflows may do, and what is said of those of their steps that nobody could run before the first release. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly steps: readonly { readonly uses?: string; readonly run?: string }[];
}

const files = globSync('.github/workflows/*.yml', { cwd: ROOT });
const workflows = files.map(
  (file) => [basename(file), parse(readFileSync(join(ROOT, file), 'utf8')) as Workflow] as const,
);
const steps = workflows.flatMap(([, { jobs }]) => Object.values(jobs).flatMap((job) => job.steps));

describe.each(workflows)('%s', (name, { permissions, jobs }) => {
  test('may read, and write only where something is given out', () => {
    expect(permissions).toEqual({ contents: 'read' });
    const writing = Object.entries(jobs).filter(([, job]) => job.permissions !== undefined);
    expect(writing.map(([job]) => `${name} ${job}`)).toEqual(name === 'release.yml' ? ['release.yml publish'] : []);
  });

  test('ends by itself', () => {
    for (const job of Object.values(jobs)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });
});

test('no secret is kept: whatever is signed or published is so by the identity of the workflow', () => {
  for (const file of files) expect(readFileSync(join(ROOT, file), 'utf8')).not.toContain('secrets.');
});

test('a job that may publish runs no install script, and has the token only in the steps that need it', () => {
  const { publish } = workflows.find(([name]) => name === 'release.yml')![1].jobs as {
    publish: Job & { env?: object };
  };
  expect(publish.env).toBeUndefined();
  const holding = publish.steps.filter((step) => 'env' in step).map(({ run }) => run);
  expect(holding).toEqual(['npm run release -- github', 'npm run release -- login "$GITHUB_ACTOR" <<< "$GH_TOKEN"']);
  for (const { run } of publish.steps) if (run?.startsWith('npm ci')) expect(run).toContain('--ignore-scripts');
});

test('every script that a step calls exists', () => {
  const called = steps.flatMap(({ run }) => [...(run ?? '').matchAll(/npm run (?:--silent )?([\w:]+)/g)]);
  expect(called.length).toBeGreaterThan(5);
  for (const [, script = ''] of called) expect(scripts).toHaveProperty([script]);
});

test('tools/lab has what steps, documents and programs call by it, and its --help names all of it', () => {
  const lab = readFileSync(join(ROOT, 'tools/lab'), 'utf8');
  const known = Array.from(lab.matchAll(/^ {2}([a-z][\w:]*)\)/gm), ([, name]) => name);
  const named = Array.from(lab.matchAll(/^ {2}([a-z][\w:]*) {2,}\S/gm), ([, name]) => name);
  expect(new Set(named)).toEqual(new Set(known));
  const texts = globSync(['.ci/run', '.github/workflows/*.yml', '*.md', '{docs,lab,test,tools}/**/*.{md,ts}'], {
    cwd: ROOT,
  }).map((path) => readFileSync(join(ROOT, path), 'utf8'));
  const called = texts.flatMap((text) =>
    Array.from(text.matchAll(/\b(?:run|--run) lab -- ([a-z][\w:]*)/g), ([, name]) => name),
  );
  expect(called.length).toBeGreaterThan(20);
  expect(known).toEqual(expect.arrayContaining(called));
  const plain = texts.flatMap((text) =>
    Array.from(text.matchAll(/\bnpm run (?:--silent )?([a-z][\w:]*)/g), ([, name]) => name),
  );
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(plain));
});

/** Steps that were never run before the first release, and why. */
const NEVER_RUN: Readonly<Record<string, string>> = {
  'actions/checkout@v5': 'an action, by tag',
  'actions/setup-go@v6': 'an action, by tag',
  'actions/setup-node@v5': 'an action, by tag',
  'actions/cache@v4': 'an action, by tag',
  'actions/upload-artifact@v4': 'an action, by tag',
  'actions/download-artifact@v5': 'an action, by tag',
  'apt-get update && apt-get install --yes --no-install-recommends iproute2': 'the container’s own packages',
  'apt-get update && apt-get install --yes --no-install-recommends iproute2 qemu-user-static runc':
    'the container’s own packages',
  'git config --global --add safe.directory "$GITHUB_WORKSPACE"': 'the container’s user does not own the work tree',
  'git diff --exit-code -- tools/image/lock.json': 'the end of a daily check',
  'npm run release -- login "$GITHUB_ACTOR" <<< "$GH_TOKEN"': 'needs the registry; run with a made-up password',
  'npm run image -- push "$(npm run --silent release -- reference)"': 'needs the registry; run against one of crane’s',
  'npm run release -- sign files': 'keyless signatures need the service’s identity; run with a key',
  'npm run release -- sign image': 'keyless signatures need the service’s identity; run with a key',
  'npm run release -- npm': 'needs npm and a trusted publisher',
  'npm run release -- github': 'needs the service',
  'npm run release -- chart': 'needs the registry; run against one of crane’s',
};

test('every other step, and every action that no commit pins, is listed as never run here', () => {
  const scripted =
    /^(npm run (image(?! -- push)|build|lab -- [\w:]+|release -- (check|executables|assets))( |$)|npm (ci|test) |\.ci\/run$)/;
  const unproven = steps.flatMap(({ uses, run }) => uses ?? (run && !scripted.test(run) ? run : []));
  const unpinned = unproven.filter((step) => !/@[0-9a-f]{40}$/.test(step));
  expect(Object.keys(NEVER_RUN).toSorted()).toEqual([...new Set(unpinned)].toSorted());
});
