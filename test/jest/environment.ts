import { ModuleMocker } from 'jest-mock';

/** Jest's environments make a world of its own for each file of tests. This one makes none: tests run in Node as it is, by `runtime.ts`. */
export default class Plain {
  /** What Jest would change in that world. */
  readonly global = {};
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly #limit = Error.stackTraceLimit;

  /** Jest has asked for ten times as many by now, in what is tested as well. */
  setup(): void {
    Error.stackTraceLimit = 10;
  }

  teardown(): void {
    Error.stackTraceLimit = this.#limit;
  }

  getVmContext(): null {
    return null;
  }
}
