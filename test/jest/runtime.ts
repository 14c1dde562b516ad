import { readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import type jestRuntime from 'jest-runtime';
import type { Globals } from './globals.ts';

const require = createRequire(import.meta.url);
const { default: JestRuntime } = require('jest-runtime') as typeof jestRuntime;

/**
 * Jest's own runtime loads every module anew for each file of tests: that takes as long as the tests. Here Node loads what is tested, once in
 * each of Jest's processes. All below `test` is loaded once for each file, so its hooks and its state are that file's alone.
 */
export default class Runtime extends JestRuntime {
  /** Jest asks for its engine. */
  override requireInternalModule(engine: string): never {
    forget(engine);
    return require(engine) as never;
  }

  override setGlobalsForRuntime(globals: Globals): void {
    Object.assign(globalThis, { [Symbol.for('brupop.test.globals')]: globals });
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  override async unstable_importModule(path: string): Promise<never> {
    files += 1;
    return (await import(pathToFileURL(path).href)) as never;
  }
}

/** The engine keeps the tests of a file under symbols of its own, until it is loaded anew. */
function forget(engine: string): void {
  delete require.cache[engine];
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (KEPT.has(symbol.description)) Reflect.deleteProperty(globalThis, symbol);
}
const KEPT: ReadonlySet<string | undefined> = new Set(['JEST_STATE_SYMBOL', 'EVENT_HANDLERS']);

const TESTS = ['test', 'lab/simulation', 'lab/mutants', 'lab/cluster'].map(
  (folder) => new URL(`../../${folder}/`, import.meta.url).href,
);
const IMPORTS = new URL('../../imports/', import.meta.url).href;
const GLOBALS = new URL('globals.ts', import.meta.url).href;
let files = 0;

registerHooks({
  /** Another address is another module for Node. */
  resolve(specifier, context, next) {
    const found = specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : next(specifier, context);
    return TESTS.some((folder) => found.url.startsWith(folder)) ? { ...found, url: `${found.url}?${files}` } : found;
  },
  /** What cdk8s generates has enumerations, and imports types as if they were values: Node takes neither. */
  load(url, context, next) {
    if (!url.startsWith(IMPORTS)) return next(url, context);
    const { code } = transformSync(readFileSync(new URL(url), 'utf8'), { loader: 'ts' });
    return { shortCircuit: true, format: 'module', source: code };
  },
});
