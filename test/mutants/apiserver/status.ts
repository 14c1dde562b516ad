import type { Mutant } from '../mutant.ts';

const LATE = 'test/apiserver/late-status.test.ts';
const RULES = 'test/apiserver/rules.test.ts';
const SERVICE = 'runtime/apiserver/shadow-service.ts';

/** What becomes of the statuses that agents send. */
export const statusMutants: readonly Mutant[] = [
  {
    rule: 'B5',
    without: 'the version of the shadow that the agent acted on',
    file: SERVICE,
    find: 'version ?? resourceVersion',
    replace: 'resourceVersion',
    tests: [LATE],
  },
  {
    rule: 'B5',
    without: 'the header in which the agent says it',
    file: 'runtime/apiserver/http/agent-routes.ts',
    find: 'const version = optional(req.headersDistinct, HEADERS.shadowVersion, RESOURCE_VERSION);',
    replace: 'const version = undefined;',
    tests: ['test/apiserver/http.test.ts'],
  },
  {
    rule: 'B5',
    without: 'any version in a status',
    file: SERVICE,
    find: '      metadata: { resourceVersion: version ?? resourceVersion },\n',
    replace: '',
    tests: [LATE],
  },
  {
    rule: 'B5',
    without: 'the answer that the agent has to look again: its status is tried on the newest shadow',
    file: SERVICE,
    find: 'if (version === undefined) return fromTheStart(put);',
    replace: 'if (version === undefined || version) return fromTheStart(put);',
    tests: [LATE],
  },
  {
    rule: 'B5',
    without: 'the new look for agents that say no version',
    file: SERVICE,
    find: 'if (version === undefined) return fromTheStart(put);',
    replace: 'if (version === undefined) return put();',
    tests: [LATE],
  },
  {
    rule: 'B1',
    without: 'the end of a record when a failure is reported',
    file: 'runtime/apiserver/status-patch.ts',
    find: "if (reached === 'RebootedIntoUpdate' || reached === 'ErrorReset')",
    replace: "if (reached === 'RebootedIntoUpdate')",
    tests: [RULES],
  },
  {
    rule: 'B1',
    without: 'the end of a record when an update is reported',
    file: 'runtime/apiserver/status-patch.ts',
    find: "if (reached === 'RebootedIntoUpdate' || reached === 'ErrorReset')",
    replace: "if (reached === 'ErrorReset')",
    tests: [RULES],
  },
  {
    rule: 'B2',
    without: 'the request that a probe clears by name',
    file: 'runtime/apiserver/status-patch.ts',
    find: '{ ...reboot, requested_at: reboot.requested_at ?? null }',
    replace: '{ ...reboot }',
    tests: [RULES],
  },
];
