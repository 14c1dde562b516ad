/** Where the agent's rules stand, and which tests hold them. */
export const DECIDE = 'runtime/agent/decide.ts';
export const STATUS = 'runtime/agent/status.ts';
export const REBOOT = 'runtime/agent/steps/reboot.ts';
export const STAGE = 'runtime/agent/steps/stage.ts';
export const EXECUTE = 'runtime/agent/steps/execute.ts';
export const LOOP = 'runtime/agent/loop.ts';
export const SESSION = 'runtime/agent/session.ts';
export const CLIENT = 'runtime/agentapi/client.ts';

export const BOOTS = ['test/agent/boots.test.ts'];
export const TRACES = ['test/agent/traces.test.ts'];
export const DEATH = ['test/agent/death.test.ts'];
export const FAILURES = ['test/agent/failures.test.ts'];
export const DECISIONS = ['test/agent/decide.test.ts'];
export const STATUSES = ['test/agent/status.test.ts'];
export const REQUESTS = ['test/agentapi/client.test.ts'];
export const REFUSED = ['test/agent/refused-status.test.ts'];
export const OTHER_IMAGE = ['test/agent/other-image.test.ts'];
export const LATE = ['test/agent/late-status.test.ts'];
