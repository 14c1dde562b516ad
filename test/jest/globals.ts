import type * as jest from '@jest/globals';

export type Globals = Pick<
  typeof jest,
  'afterAll' | 'afterEach' | 'beforeAll' | 'beforeEach' | 'describe' | 'expect' | 'test'
>;

/** What tests import as `@jest/globals`, which refuses to be loaded outside of Jest's own runtime. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } = (
  globalThis as unknown as Record<symbol, Globals>
)[Symbol.for('brupop.test.globals')]!;
