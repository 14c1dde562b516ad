/** What tests import as `@jest/globals`, which refuses to be loaded outside of Jest. */
export { afterAll, afterEach, beforeAll, beforeEach, describe, test } from 'jest-circus';
export { jestExpect as expect } from '@jest/expect';
