import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../', import.meta.url));

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The fragment by which GitHub links to a heading. */
const fragmentOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

/** The fragments that a document has. */
export const fragmentsOf = (path: string): string[] =>
  Array.from(read(path).matchAll(/^#+ (.+)$/gm), ([, heading = '']) => fragmentOf(heading));

export type Example = readonly [heading: string, source: string];

/** The code blocks of a language in a document, each with the heading that it stands under. */
export function examples(document: string, language: string): Example[] {
  const text = read(document);
  const found: Example[] = [];
  let heading = '';
  for (const [, title, tag, source] of text.matchAll(/^## (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    heading = title ?? heading;
    if (tag === language && source !== undefined) found.push([heading, source]);
  }
  return found;
}
