import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parseInvocation } from '../../runtime/cli/arguments.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import { read, ROOT } from '../documents.ts';

/** The words of a command line in a document, without its comment. What is for the reader to fill in is a name like any other. */
function wordsOf(line: string): readonly string[] {
  const [command = ''] = line.split(/\s+#|\s*[;&|>]/);
  const words = command.match(/'[^']*'|[^\s']+/g) ?? [];
  return words.map((word) => word.replaceAll("'", '').replace(/^\[(.*?)(\.\.\.)?\]$/, '$1'));
}

const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT });

test.each(documents)('the program takes each of its command lines in %s', (document) => {
  const blocks = Array.from(read(document).matchAll(/```sh\n([\s\S]*?)```/g), ([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.split('\n')).filter((line) => line.startsWith('kubectl brupop '));
  const refused = lines.filter((line) => {
    try {
      parseInvocation(wordsOf(line).slice(2), COMMANDS);
      return false;
    } catch {
      return true;
    }
  });
  expect(refused).toEqual([]);
});
