import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownFolder } from './folder.ts';
import { folder as root } from '../../folder.ts';

const MODULE = fileURLToPath(new URL('folder.ts', import.meta.url));

test('a folder whose owner was killed is gone with the next one that is made, of whatever kind', async () => {
  const program = `import { ownFolder } from '${MODULE}';
    await ownFolder('one', '${root}');
    console.log('made');
    setInterval(() => undefined, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(owner.stdout, 'data');
  const [killed = ''] = await readdir(root);
  const meanwhile = await ownFolder('other', root);
  expect(await readdir(root)).toEqual(expect.arrayContaining([killed, basename(meanwhile.dir)]));

  owner.kill('SIGKILL');
  await once(owner, 'exit');
  const next = await ownFolder('other', root);
  expect(new Set(await readdir(root))).toEqual(new Set([meanwhile, next].map(({ dir }) => basename(dir))));
  for (const folder of [meanwhile, next]) await folder.remove();
});

test('a folder that nobody ever owned stays, and one that is removed leaves nothing', async () => {
  await mkdir(join(root, 'brupop-one-123456'));
  const folder = await ownFolder('one', root);
  await writeFile(join(folder.dir, 'kubeconfig'), '');
  await folder.remove();
  expect(await readdir(root)).toEqual(['brupop-one-123456']);
});
