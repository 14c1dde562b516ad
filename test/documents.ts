import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../', import.meta.url));

export type Example = readonly [heading: string, source: string];

/** The code blocks of a language in a document, each with the heading that it stands under. */
export function examples(document: string, language: string): Example[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const found: Example[] = [];
  let heading = '';
  for (const [, title, tag, source] of text.matchAll(/^## (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)) {
    heading = title ?? heading;
    if (tag === language && source !== undefined) found.push([heading, source]);
  }
  return found;
}
