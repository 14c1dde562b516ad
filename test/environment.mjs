import { TestEnvironment } from 'jest-environment-node';
import vm from 'node:vm';

/**
 * Jest's environment for Node, but for its global object: that is a plain one. Jest's own is a proxy behind interceptors, so that each
 * mention of `Array` or `Promise` in a test, and in what it tests, asks both.
 */
export default class PlainGlobals extends TestEnvironment {
  constructor(...options) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...options);
    } finally {
      vm.createContext = createContext;
    }
  }
}
