import type { Mutant } from './mutant.ts';

const file = 'runtime/kube/lease.ts';
const tests = ['test/kube/lease-terms.test.ts'];

/** Leadership: one at a time, counted on the safe side. */
export const leaseMutants: readonly Mutant[] = [
  {
    rule: 'leadership counts from the request',
    without: 'a late answer to the first request prolongs the term',
    file,
    find: "if (outcome === 'held') return began;",
    replace: "if (outcome === 'held') return this.#options.clock.monotonic();",
    tests,
    name: 'takes the lease has it from when it asked',
  },
  {
    rule: 'leadership counts from the request',
    without: 'a late answer to a renewal prolongs the term',
    file,
    find: "if (outcome === 'held') renewed = began;",
    replace: "if (outcome === 'held') renewed = clock.monotonic();",
    tests,
    name: 'renews the lease has it from when it asked',
  },
  {
    rule: 'one request does not spend the term',
    without: 'one unanswered renewal costs leadership',
    file,
    find: 'const ATTEMPT_SHARE = 0.5;',
    replace: 'const ATTEMPT_SHARE = 1;',
    tests,
    name: 'never answered',
  },
  {
    rule: 'a lease is given back by its holder alone',
    without: 'a deposed leader gives back the lease of its successor',
    file,
    find: 'if (!lease || !this.#isOurs(lease)) return;',
    replace: 'if (!lease) return;',
    tests,
    name: 'leaves the lease of its successor alone',
  },
  {
    rule: 'a lease lasts for as long as its holder asked for',
    without: 'a lease of a minute is taken over after 15 seconds',
    file,
    find: '(spec?.leaseDurationSeconds ?? LEASE_SECONDS) * 1000',
    replace: 'LEASE_SECONDS * 1000',
    tests,
    name: 'for as long as the holder asked for',
  },
];
