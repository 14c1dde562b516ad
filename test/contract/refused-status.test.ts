import { expect, test } from '@jest/globals';
import { MissingPermissionError } from '../../runtime/kube/errors.ts';
import type { AgentStatus } from '../../runtime/api/shadow/model.ts';
import { eventually } from './eventually.ts';
import { deniesFailures } from './policies.ts';
import { onReal, stage } from './stage.ts';

const on = stage();

const FAILED: AgentStatus = {
  current_version: '1.38.0',
  target_version: '1.39.0',
  current_state: 'ErrorReset',
  crash_count: 1,
  last_failure: { state: 'RebootedIntoUpdate', reason: 'DrainFailed', message: '', time: '2026-01-01T00:00:00Z' },
};

/** Once what stands in the way is in effect, it is told as a refusal of the status; what is left of the status is taken. */
async function expectRefused(): Promise<void> {
  const { service } = on.world.replica();
  const put = (status: AgentStatus): Promise<unknown> =>
    service.putStatus({ agent: on.world.agent, status, version: undefined });
  await eventually(() =>
    expect(put(FAILED)).rejects.toEqual(expect.objectContaining({ status: 502, reason: 'StatusRefused' })),
  );
  await put({ ...FAILED, last_failure: null, reboot: null, failed_versions: null });
}

/** Policies of admission are the real API server's alone. */
const really = onReal(async () => undefined) ? test : test.skip;

really.each(['Forbidden', 'Invalid'] as const)(
  'a status that an admission policy refuses as %s is told from everything that may pass',
  async (reason) => {
    await deniesFailures(on.cluster, on.world.names.operator, reason);
    await expectRefused();
  },
);

test('a role that is missing is told apart from a status that is refused', async () => {
  const { agent } = on.world;
  const { transport } = await on.world.account('bottlerocketshadows/status');
  const { service } = on.world.replica({ transport });
  const put = service.putStatus({ agent, status: FAILED, version: undefined });
  await expect(put).rejects.toBeInstanceOf(MissingPermissionError);
});
