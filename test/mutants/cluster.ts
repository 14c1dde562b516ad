import type { Mutant } from './mutant.ts';

const file = 'sim/cluster/kinds/decode.ts';
const tests = ['test/contract/refusals.test.ts'];

/** What the embedded cluster refuses as the real API server does: what it let through, only a real one would find. */
export const clusterMutants: readonly Mutant[] = [
  {
    rule: 'fields have the types of their structure',
    without: 'a number is kept where a text belongs',
    file,
    find: 'if (fault) throw undecodable',
    replace: 'if (false) throw undecodable',
    tests,
  },
  {
    rule: 'fields that a structure has not are dropped',
    without: 'what a real API server would drop is kept',
    file,
    find: 'unknown.length === 0 ? clean : known)',
    replace: 'clean)',
    tests,
    name: 'is not kept',
  },
  {
    rule: 'null is what was never set',
    without: 'a time that was never set is absent, as a real API server never gives it out',
    file,
    find: 'return withDefaults(structure, unknown.length === 0 ? clean : known);',
    replace: 'return unknown.length === 0 ? clean : known;',
    tests: ['test/contract/objects.test.ts'],
    name: 'never set',
  },
  {
    rule: 'rules of built-in kinds',
    without: 'any object of the right types is stored',
    file: 'sim/cluster/admission.ts',
    find: 'kindFaults({ ...candidate, object })',
    replace: '[]',
    tests,
  },
  {
    rule: 'who may hold an object that is going',
    without: 'a finalizer is added to an object that is being deleted',
    file: 'sim/cluster/kinds/holders.ts',
    find: '|| late.length === 0) return [];',
    replace: '|| late.length >= 0) return [];',
    tests,
    name: 'new finalizer',
  },
  {
    rule: 'options of a list and a watch',
    without: 'options that contradict each other are obeyed somehow',
    file: 'sim/cluster/list-options.ts',
    find: 'if (causes.length > 0) throw',
    replace: 'if (causes.length < 0) throw',
    tests,
    name: 'by options',
  },
  {
    rule: 'the form that is asked for',
    without: 'metadata alone is answered with the whole object',
    file: 'sim/cluster/shown.ts',
    find: 'return { ...PARTIAL, metadata };',
    replace: 'return { ...PARTIAL, kind: `${PARTIAL.kind}s`, metadata };',
    tests: ['test/contract/forms.test.ts'],
  },
];
