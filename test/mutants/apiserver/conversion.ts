import type { Mutant } from '../mutant.ts';

const CONVERT = 'runtime/shadow/convert.ts';
const CLIENTS = 'test/apiserver/older-clients.test.ts';
const ROUND_TRIP = 'test/shadow/convert-round-trip.test.ts';

/** What a write of v1 leaves of a shadow. */
export const conversionMutants: readonly Mutant[] = [
  {
    rule: 'C1',
    without: 'what v2 says: a client that annotates a shadow as v1 unhalts a release',
    file: CONVERT,
    find: ', ...unchanged(parts, givenOut(data)) }',
    replace: ' }',
    tests: [CLIENTS],
  },
  {
    rule: 'C1',
    without: 'the look at what an older controller has written',
    file: CONVERT,
    find: 'isSame(spec, given.spec, SPEC_V1) && ',
    replace: '',
    tests: [CLIENTS],
  },
  {
    rule: 'C1',
    without: 'the look at what an older agent has reported: a record of a reboot outlives its attempt',
    file: CONVERT,
    find: ' && isSame(status, given.status ?? {}, STATUS_V1)',
    replace: '',
    tests: [CLIENTS],
  },
  {
    rule: 'C1',
    without: 'a field of which alone somebody may have changed what it says',
    file: CONVERT,
    find: "const SPEC_V1 = ['state', 'version', 'state_transition_timestamp'] as const;",
    replace: "const SPEC_V1 = ['state', 'version'] as const;",
    tests: [ROUND_TRIP],
  },
  {
    rule: 'C1',
    without: 'the model that a v2 object has to fit, whoever has written the annotation',
    file: CONVERT,
    find: 'partsV2.safeParse(parts).success ? (parts as Parts) : undefined',
    replace: 'parts as Parts',
    tests: [ROUND_TRIP],
  },
  {
    rule: 'C2',
    without: 'the end of the annotation on a v2 object',
    file: CONVERT,
    find: '{ ...annotated(shadow, others), ...toV2(parts)',
    replace: '{ ...shadow, ...toV2(parts)',
    tests: [CLIENTS],
  },
  {
    rule: 'C2',
    without: 'the v2 object’s own word: what somebody has put on it is given out in its stead',
    file: CONVERT,
    find: '[CONVERSION_DATA_ANNOTATION]: JSON.stringify(parts) }',
    replace: '[CONVERSION_DATA_ANNOTATION]: data ?? JSON.stringify(parts) }',
    tests: [ROUND_TRIP],
  },
];
