import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { View } from '../../runtime/agent/decide.ts';
import {
  failedStatus,
  failingCheck,
  withOffer,
  currentStatus,
  reachedStatus,
  withRebootRecord,
  reductions,
  idleStatus,
  withFailure,
} from '../../runtime/agent/status.ts';
import { type AgentStatus, FAILURE_REASONS, type Spec, type Status, statusV2 } from '../../runtime/api/shadow/model.ts';
import { parseAgentStatus } from '../../runtime/api/shadow/parse.ts';
import { crdSchema } from '../../runtime/api/shadow/schema.ts';
import { STATES } from '../../runtime/api/shadow/states.ts';
import { validate } from '../../lab/sim/cluster/crd/validate.ts';
import { runs } from '../random.ts';
import { optional, required, spec, status, time, version } from '../api/shadow/arbitrary.ts';

/** Any text: of any length, with any character, halves of pairs included. */
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3000 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 3000 }).map((units) => String.fromCharCode(...units)),
);
const view = fc
  .record({ spec, status: fc.option(status, { nil: undefined }), running: version, bootId: fc.uuid() })
  .map(({ running, bootId, ...parts }): View => {
    const shadow = { metadata: { name: 'brs-n1', uid: 's', resourceVersion: '7' }, spec: parts.spec as Spec };
    const known = parts.status as Status | undefined;
    return { nodeUid: 'u', version: running, bootId, shadow: { ...shadow, ...(known && { status: known }) } };
  });
const failure = fc.record({
  state: fc.constantFrom(...STATES),
  reason: fc.constantFrom(...FAILURE_REASONS),
  message: words,
  version,
});

/** Every status that an agent can make of what it has seen. */
const reported = fc
  .record({ view, failure, time, words, target: fc.oneof(version, words) })
  .map(({ view: seen, failure: failed, time: at, words: error, target }): readonly AgentStatus[] => {
    const all = [
      currentStatus(seen),
      failedStatus(seen, failed, at),
      withFailure(currentStatus(seen), failed, at),
      withOffer(seen, target),
      failingCheck(seen, { failing_since: at, succeeded_at: null, error }),
      withRebootRecord(seen, { boot_id: seen.bootId, version: failed.version, requested_at: at }),
      idleStatus(seen, true, at),
      idleStatus(seen, false, at),
      ...STATES.map((state) => reachedStatus(seen, state)),
    ];
    return all.flatMap((one) => reductions(one, seen));
  });

test('statuses of this test have each field that there is', () => {
  expect(Object.keys({ ...required, ...optional }).toSorted()).toEqual(Object.keys(statusV2.shape).toSorted());
});

test('whatever the agent reports fits its own model and the CRD, and is stored as it was sent', () => {
  const schema = crdSchema('v2').properties?.['status'] ?? {};
  fc.assert(
    fc.property(reported, (statuses) => {
      for (const one of statuses) {
        const sent: unknown = JSON.parse(JSON.stringify(one));
        expect(parseAgentStatus(sent)).toMatchObject({ current_version: one.current_version });
        expect(Object.keys(one)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(conditions|drain)/)]));
        expect(validate(schema as never, sent)).toEqual([]);
        // The API server would store another character in place of half a pair.
        expect(JSON.stringify(one)).not.toMatch(/\\ud[89a-f]/i);
      }
    }),
    runs(50),
  );
});
