import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that the tests of a file share; gone after the last of them. */
export let shared: string;
/** A folder within it that each test has to itself. */
export let folder: string;

beforeAll(async () => {
  shared = await realpath(await mkdtemp(join(tmpdir(), 'brupop-test-')));
});
beforeEach(async () => {
  folder = await mkdtemp(join(shared, 'test-'));
});
afterAll(() => rm(shared, { recursive: true, force: true }));
