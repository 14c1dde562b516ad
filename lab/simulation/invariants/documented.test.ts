import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../../../test/documents.ts';
import { RULES } from './index.ts';

test('lab/simulation/README.md says of each invariant what must hold, and of no other', () => {
  const rows = readFileSync(join(ROOT, 'lab/simulation/README.md'), 'utf8').matchAll(
    /^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| [^|]+ \| [^|]+ \|$/gm,
  );
  const documented = Array.from(rows, ([, cell = '']) => cell.replaceAll('`', '').split(', ')).flat();
  expect(documented.toSorted()).toEqual(RULES.map(({ name }) => name).toSorted());
});
