import { globSync, readFileSync } from 'node:fs';
import { registerHooks, type ResolveFnOutput, type ResolveHookContext } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect as expect } from '@jest/expect';
import * as fc from 'fast-check';
import * as circus from 'jest-circus';
import { addEventHandler, type Event, getState, resetState, run, type State } from 'jest-circus';

/**
 * Stryker's runner of tests: Jest's engine in Stryker's process. Jest itself loads all modules anew for each file of tests, and goes on when a
 * test has failed. Here they are loaded once for each change, and the first test that fails ends the run.
 */
class InProcess {
  readonly #files = filesOfTests();
  readonly #root = pathToFileURL(`${process.cwd()}/`).href;
  #tests: readonly Known[] = [];
  readonly #ids = new Map<Test, string>();
  #generation = 0;

  /** Stryker has made the copy with the changes the current folder. */
  constructor() {
    registerHooks({ resolve: (...asked) => this.#resolve(...asked) });
    // What tests import as `@jest/globals`, by way of `GLOBALS`.
    Object.assign(globalThis, { [Symbol.for('brupop.test.globals')]: { ...circus, expect } });
    // A test that waits for ever is ended by Stryker, with this process.
    Object.assign(globalThis, { [Symbol.for('TEST_TIMEOUT_SYMBOL')]: 600_000 });
    // What a property says of a change is that it fails. Nobody reads the smallest case.
    fc.configureGlobal({ endOnFailure: true });
    addEventHandler((event) => this.#follow(event));
  }

  /** It always does: modules remember what they have found (`LAST` in `plan/nodes/health.ts`), and that was under another change. */
  capabilities(): { readonly reloadEnvironment: true } {
    return { reloadEnvironment: true };
  }

  async dryRun(): Promise<object> {
    await this.#load();
    await this.#run(() => true);
    const tests = this.#tests.map(({ id, file, test: { duration, errors } }) => ({
      id,
      name: id,
      fileName: file,
      timeSpentMs: duration ?? 0,
      status: errors.length > 0 ? STATUS.failed : STATUS.success,
      failureMessage: said(errors),
    }));
    return { status: 'complete', tests, mutantCoverage: INSTRUMENTED.mutantCoverage };
  }

  async mutantRun({ activeMutant, hitLimit, mutantActivation, testFilter }: Asked): Promise<object> {
    Object.assign(INSTRUMENTED, { hitLimit, hitCount: hitLimit === undefined ? undefined : 0 });
    INSTRUMENTED.activeMutant = mutantActivation === 'static' ? activeMutant.id : undefined;
    await this.#load();
    INSTRUMENTED.activeMutant = activeMutant.id;
    const chosen = testFilter && new Set(testFilter);
    await this.#run((id) => chosen?.has(id) ?? true);
    INSTRUMENTED.activeMutant = undefined;
    return this.#outcome();
  }

  /** Another address is another module for Node: what has been loaded already is loaded again. */
  #resolve(specifier: string, context: ResolveHookContext, next: NextResolve): ResolveFnOutput {
    if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
    const found = next(specifier, context);
    return found.url.startsWith(this.#root) ? { ...found, url: `${found.url}?${this.#generation}` } : found;
  }

  async #load(): Promise<void> {
    resetState();
    this.#generation += 1;
    const found: Known[] = [];
    for (const file of this.#files) {
      const { children } = getState().rootDescribeBlock;
      const from = children.length;
      await import(pathToFileURL(file).href);
      found.push(...children.slice(from).flatMap((child) => testsIn(child, file)));
    }
    this.#tests = found;
    this.#ids.clear();
    for (const { id, test } of found) this.#ids.set(test, id);
  }

  async #run(isChosen: (id: string) => boolean): Promise<void> {
    getState().unhandledErrors = [];
    for (const { id, test } of this.#tests) {
      test.errors = [];
      test.mode = isChosen(id) ? undefined : 'skip';
    }
    await run();
  }

  #follow(event: Event): void {
    if (event.name === 'test_start') INSTRUMENTED.currentTestId = this.#ids.get(event.test);
    if (event.name !== 'test_done' && event.name !== 'test_skip') return;
    INSTRUMENTED.currentTestId = undefined;
    if (event.test.errors.length > 0) for (const { test } of this.#tests) test.mode = 'skip';
  }

  #outcome(): object {
    const { hitCount = 0, hitLimit = Infinity } = INSTRUMENTED;
    if (hitCount > hitLimit) return { status: 'timeout', reason: 'what was changed runs a hundred times as often' };
    const nrOfTests = this.#tests.filter(({ test }) => test.status === 'done').length;
    const failed = this.#tests.find(({ test }) => test.errors.length > 0);
    if (failed) return { status: 'killed', killedBy: [failed.id], failureMessage: said(failed.test.errors), nrOfTests };
    const { unhandledErrors } = getState();
    if (unhandledErrors.length === 0) return { status: 'survived', nrOfTests };
    return { status: 'killed', killedBy: [], failureMessage: said(unhandledErrors), nrOfTests };
  }
}

/** Of what Stryker asks for, what is used here. */
interface Asked {
  readonly activeMutant: { readonly id: string };
  readonly hitLimit?: number;
  /** static: from when modules are loaded on */
  readonly mutantActivation: 'runtime' | 'static';
  /** All tests without it. */
  readonly testFilter?: readonly string[];
}

/** What changed code asks, and where it says what it was asked. */
interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: object;
}

const INSTRUMENTED: Instrumented = ((globalThis as { __stryker__?: Instrumented }).__stryker__ ??= {});

type NextResolve = (specifier: string, context?: Partial<ResolveHookContext>) => ResolveFnOutput;

/** Stryker's numbers. */
const STATUS = { success: 0, failed: 1 } as const;

type Test = Extract<Event, { readonly name: 'test_done' }>['test'];
type Child = State['rootDescribeBlock']['children'][number];

interface Known {
  /** File and full name. */
  readonly id: string;
  readonly file: string;
  readonly test: Test;
}

function testsIn(child: Child, file: string, names: readonly string[] = []): readonly Known[] {
  const path = [...names, child.name];
  if (child.type === 'describeBlock') return child.children.flatMap((one) => testsIn(one, file, path));
  return child.mode == null ? [{ id: `${file} ${path.join(' ')}`, file, test: child }] : [];
}

/** What a test that failed has thrown: an error, or a pair of it and one that tells where the test is. */
const said = (errors: readonly unknown[]): string => errors.flat().filter(Boolean).join('\n');

/** Those that try many cases come last: most changes fail in an example. */
function filesOfTests(): readonly string[] {
  const files = globSync(JSON.parse(process.env['MUTATION_TESTS'] ?? '[]') as string[]).toSorted();
  return [...files.filter((file) => !isLong(file)), ...files.filter(isLong)];
}

const isLong = (file: string): boolean => readFileSync(file, 'utf8').includes("/random.ts'");

const GLOBALS = new URL('../../test/jest/globals.ts', import.meta.url).href;

export const strykerPlugins = [{ kind: 'TestRunner', name: 'in-process', injectableClass: InProcess }];
