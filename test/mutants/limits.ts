import type { Mutant } from './mutant.ts';

/** What bounds the apiserver's memory, whoever asks for whatever. */
export const limitMutants: readonly Mutant[] = [
  {
    rule: 'connections that clients may have',
    without: 'as many connections as anybody opens are accepted',
    file: 'runtime/apiserver/serve.ts',
    find: 'server.maxConnections = maxConnections;',
    replace: '',
    tests: ['test/apiserver/security.test.ts'],
    name: 'comes when there are as many as memory allows',
  },
  {
    rule: 'connections to the Kubernetes API',
    without: 'a burst opens a connection for each request',
    file: 'runtime/kube/https.ts',
    find: 'new Agent({ keepAlive: true, timeout: IDLE_SOCKET_MS, maxSockets });',
    replace: 'new Agent({ keepAlive: true, timeout: IDLE_SOCKET_MS });',
    tests: ['test/kube/https.test.ts'],
    name: 'beyond the bound on connections',
  },
  {
    rule: 'connections to the Kubernetes API',
    without: 'watches take the connections of requests',
    file: 'runtime/kube/https.ts',
    find: 'signal, agent: this.#watches });',
    replace: 'signal, agent: this.#requests });',
    tests: ['test/kube/https.test.ts'],
    name: 'beyond the bound on connections',
  },
  {
    rule: 'values that a conversion may have',
    without: 'any number of values is parsed',
    file: 'runtime/apiserver/conversion.ts',
    find: 'if (mayHoldMore(text, MAX_VALUES))',
    replace: 'if (mayHoldMore(text, Infinity))',
    tests: ['test/apiserver/conversion.test.ts'],
    name: 'are not parsed',
  },
  {
    rule: 'tokens',
    without: 'tokens that were reviewed together are not reviewed together for ever',
    file: 'runtime/apiserver/auth/expiring-cache.ts',
    find: 'ttlMs * (1 - SPREAD * random())',
    replace: 'ttlMs',
    tests: ['test/apiserver/auth/expiring-cache.test.ts'],
  },
  {
    rule: 'tokens',
    without: 'a token that no longer counts is reviewed again, whichever token is the oldest',
    file: 'runtime/apiserver/auth/expiring-cache.ts',
    find: 'known && known.expires > now',
    replace: 'known',
    tests: ['test/apiserver/auth/expiring-cache.test.ts'],
  },
];
