import { existsSync, globSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from '@jest/globals';
import { REASONS, TOLD } from '../runtime/controller/plan/facts/reasons.ts';
import { sectionOf } from '../runtime/controller/plan/facts/runbook.ts';
import { fragmentsOf, read, ROOT } from './documents.ts';

const FOLDERS = '{docs,examples,lab,test}';
const documents = globSync(['*.md', `${FOLDERS}/**/*.md`], { cwd: ROOT, exclude: (name) => name === 'node_modules' });

test.each(documents)('the links of %s lead to a file and a heading that are there', (document) => {
  const links = Array.from(read(document).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g));
  const broken = links.filter(([, path = '', fragment]) => {
    const target = path ? relative(ROOT, join(ROOT, dirname(document), path)) : document;
    if (!existsSync(join(ROOT, target))) return true;
    return fragment !== undefined && !fragmentsOf(target).includes(fragment);
  });
  expect(broken.map(([link]) => link)).toEqual([]);
});

const KB = 1000;
/** What somebody who takes the operator over has to read. A page that outgrows its place says something that another page says, or that nobody needs. */
const LONGEST: readonly [documents: string | readonly string[], kb: number][] = [
  ['CHANGELOG.md', 4],
  ['CONTRIBUTING.md', 5],
  ['docs/benchmarks.md', 9],
  ['docs/deploying.md', 16],
  ['docs/eks.md', 7],
  ['docs/operating.md', 28],
  ['docs/policies.md', 20],
  ['docs/protocol.md', 41],
  ['lab/simulation/README.md', 10],
  [['*.md', 'docs/**/*.md'], 200],
];

test.each(LONGEST)('%s has less than %d KB', (patterns, kb) => {
  const sizes = globSync(patterns, { cwd: ROOT }).map((path) => statSync(join(ROOT, path)).size);
  expect(sizes.reduce((total, size) => total + size, 0)).toBeLessThan(kb * KB);
});

test('docs/operating.md has each section that a verdict leads to', () => {
  const sections = REASONS.map((reason) => sectionOf(reason).replace('operating.md#', ''));
  expect(fragmentsOf('docs/operating.md')).toEqual(expect.arrayContaining(sections));
});

/** The names in a part of a document that stand alone in backquotes; of a table, those in its first column. */
function namesIn(document: string, part: RegExp): readonly string[] {
  const [, text = ''] = part.exec(read(document)) ?? [];
  const firstCells = text.replaceAll(/^(\| [^|]*)\|.*$/gm, '$1');
  return Array.from(firstCells.matchAll(/`([A-Z][A-Za-z]+)`/g), ([, name = '']) => name);
}

const SAID: readonly [where: string, document: string, part: RegExp, reasons: readonly string[]][] = [
  ['the first column of the table of verdicts', 'docs/operating.md', /^\| verdict \| means .*?\n(.*?)^## /ms, REASONS],
  ['the list of what targets are told', 'docs/notifications.md', /^(- `NotReturned`.*?)^- /ms, TOLD],
];

test.each(SAID)('%s in %s has each verdict that it is about', (where, document, part, reasons) => {
  const missing = reasons.filter((reason) => !namesIn(document, part).includes(reason));
  expect(missing.map((reason) => `${document}: add ${reason} to ${where}`)).toEqual([]);
});
