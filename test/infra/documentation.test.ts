import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Testing, Yaml } from 'cdk8s';
import { buildSync } from 'esbuild';
import { parseAllDocuments } from 'yaml';
import { BrupopChart } from '../../infra/index.ts';
import { examples, ROOT } from '../documents.ts';
import type { PolicyObject } from '../../runtime/api/policy/model.ts';
import { parsePolicy } from '../../runtime/api/policy/parse.ts';
import { policyCrdSchema } from '../../runtime/api/policy/schema.ts';
import { validate } from '../../lab/sim/cluster/crd/validate.ts';
import { VARIABLES } from '../api/policy/policies.ts';
import { CA } from './pem.ts';

let folder = '';
beforeAll(() => {
  // Inside of the repository, so that a program finds the packages that it imports.
  mkdirSync(join(ROOT, 'build'), { recursive: true });
  folder = mkdtempSync(join(ROOT, 'build', 'documented-'));
  writeFileSync(join(folder, 'ca.crt'), CA);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a program as a user of the package would, and returns what it wrote. */
function synthesise(source: string): { readonly kind: string }[] {
  const outdir = mkdtempSync(join(folder, 'run-'));
  const outfile = join(outdir, 'app.mjs');
  buildSync({
    stdin: { contents: source, loader: 'ts', resolveDir: ROOT },
    alias: { 'cdk8s-brupop': join(ROOT, 'infra/index.ts') },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outfile,
  });
  execFileSync(process.execPath, [outfile], {
    cwd: folder,
    env: { ...process.env, CDK8S_OUTDIR: join(outdir, 'dist') },
  });
  return readdirSync(join(outdir, 'dist')).flatMap((name) =>
    parseAllDocuments(readFileSync(join(outdir, 'dist', name), 'utf8')).map((document) => document.toJS()),
  );
}

test.each(examples('docs/policies.md', 'yaml'))(
  'the policies that docs/policies.md shows under "%s" are obeyed',
  (_, source) => {
    // As kubectl reads them.
    const policies = parseAllDocuments(source, { version: '1.1' }).map((document) => document.toJS() as PolicyObject);
    for (const policy of policies) {
      expect(validate(policyCrdSchema(), policy)).toEqual([]);
      expect(parsePolicy(policy, VARIABLES)).not.toHaveProperty('faults');
    }
  },
);

test('no command that a document shows writes a field of the manifests, which whoever has applied them would lose', () => {
  const documents = ['README.md', ...readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))];
  const lines = documents.flatMap((name) =>
    readFileSync(join(ROOT, name === 'README.md' ? name : join('docs', name)), 'utf8').split('\n'),
  );
  // The definition's webhook is taken away where nobody is left to answer it; the page says what sets it again.
  const writing = /kubectl (set|scale|edit|autoscale|rollout undo)\b|kubectl patch (?!crd bottlerocketshadows)/;
  expect(lines.filter((line) => writing.test(line))).toEqual([]);
});

test('the test that README.md shows compares the manifests with those that were reviewed', () => {
  const sources = examples('README.md', 'js').map(([, source]) => source);
  const seen: string[] = [];
  const expected = (text: string) => ({ toMatchSnapshot: () => seen.push(text) });
  runInNewContext(sources.join('\n'), {
    BrupopChart,
    Testing,
    Yaml,
    expect: expected,
    test: (_: string, run: () => void) => run(),
  });
  expect(seen).toEqual([expect.stringMatching(/^kind: DaemonSet$/m)]);
});

describe.each(['README.md', 'docs/deploying.md'])('%s', (document) => {
  test.each(examples(document, 'ts'))('what it shows under "%s" synthesises the operator', (_, source) => {
    expect(synthesise(source).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['CustomResourceDefinition', 'DaemonSet', 'Deployment']),
    );
  });
});
