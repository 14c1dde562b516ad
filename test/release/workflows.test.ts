import { describe, expect, test } from '@jest/globals';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** What the workflows may do, and what is said of those of their steps that nobody could run before the first release. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const releasing = readFileSync(join(ROOT, 'docs/releasing.md'), 'utf8');
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

test('every script that a step calls exists', () => {
  const called = steps.flatMap(({ run }) => [...(run ?? '').matchAll(/npm run (?:--silent )?([\w:]+)/g)]);
  expect(called.length).toBeGreaterThan(5);
  for (const [, script = ''] of called) expect(scripts).toHaveProperty([script]);
});

test('every other step, and every action that no commit pins, is listed as never run here', () => {
  const scripted =
    /^(npm run (image|image:lock|test:image|build|mutants|mutation|simulate|release -- (check|executables|assets))( |$)|npm (ci|test) |\.ci\/run$)/;
  const unproven = steps.flatMap(({ uses, run }) => uses ?? (run && !scripted.test(run) ? run : []));
  const unlisted = unproven.filter((step) => !/@[0-9a-f]{40}$/.test(step) && !releasing.includes(`\`${step}\``));
  expect(unlisted).toEqual([]);
});
