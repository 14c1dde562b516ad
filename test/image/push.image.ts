import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findCrane, withRegistry } from '../../tools/image/crane.ts';
import { BUILT } from './layout.ts';

test('a registry knows what is pushed by the digest that the build has stated', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-push-'));
  const { file } = await findCrane(process.env);
  const digest = (await readFile(join(BUILT, 'digest'), 'utf8')).trim();
  try {
    await withRegistry(file, join(dir, 'registry'), async (host) => {
      const push = ['run', '--silent', 'image', '--', 'push', `${host}/brupop:0.1.0`];
      expect((await promisify(execFile)('npm', push)).stdout).toBe(`${host}/brupop@${digest}\n`);
    });
  } finally {
    await rm(dir, { recursive: true });
  }
});
