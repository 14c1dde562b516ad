import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Manager } from '../../runtime/controller/manager.ts';
import { apiStatusError } from '../../runtime/kube/errors.ts';
import { leasesOf } from '../../runtime/kube/resources.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { CONTROL_PLANE_LEASES } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

/** With nobody to make pods, or to place them, a drain takes away what is not coming back. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
});
afterEach(() => stage.end());

/** The Lease is renewed now, by a clock that is behind by so many milliseconds. */
async function renew(name: string, slowMs = 0): Promise<void> {
  const leases = leasesOf(stage.transport, 'kube-system');
  const spec = { holderIdentity: 'one', renewTime: `${rfc3339(stage.clock.now() - slowMs).slice(0, -1)}.000000Z` };
  const known = await leases.get(name);
  if (known) await leases.update({ ...known, spec });
  else await leases.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec });
}
/** Both are renewed, but for those that are away. */
async function pass(seconds: number, { away = '', slowMs = 0 } = {}): Promise<void> {
  for (let second = 0; second < seconds; second += 5) {
    for (const name of CONTROL_PLANE_LEASES) if (name !== away) await renew(name, slowMs);
    await stage.pass(5000);
  }
}
const verdictOn = (controller: Manager, name: string) =>
  controller.preview().verdicts.find(({ node }) => node === name);

describe.each(CONTROL_PLANE_LEASES)('while %s is away', (away) => {
  test('nothing starts, and people are told once, until it is back', async () => {
    await pass(5);
    await stage.pass(120_000);
    const controller = stage.start();
    await pass(30, { away });
    expect(await stage.specs('a', 'b')).toEqual(['Idle', 'Idle']);
    expect(verdictOn(controller, 'a')).toMatchObject({
      reason: 'ControlPlaneAway',
      message: expect.stringContaining(`kube-system/${away}`),
    });
    expect((await stage.told()).filter(({ reason }) => reason === 'ControlPlaneAway')).toMatchObject([{ count: 1 }]);
    await pass(30);
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  });

  test('what is staged waits, in service', async () => {
    await pass(5);
    const controller = stage.start();
    await pass(10);
    expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
    await pass(90, { away });
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await pass(10, { away });
    expect([await stage.spec('a'), verdictOn(controller, 'a')?.reason]).toEqual([
      'StagedAndPerformedUpdate 1.1.0',
      'ControlPlaneAway',
    ]);
    await pass(20);
    expect(await stage.spec('a')).toBe('RebootedIntoUpdate 1.1.0');
  });
});

test('a control plane whose clock is five minutes behind holds up nobody for longer than a quarter of a minute', async () => {
  await pass(5, { slowMs: 300_000 });
  stage.start();
  await pass(30, { slowMs: 300_000 });
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test.each(['are not there', 'may not be read'])('where these Leases %s nothing is said of it', async (what) => {
  const transport: KubeTransport = {
    request: (request) => {
      if (request.path.includes('/kube-system/leases')) throw apiStatusError('GET', { code: 403, reason: 'Forbidden' });
      return stage.transport.request(request);
    },
    watch: (watch) => stage.transport.watch(watch),
  };
  if (what === 'may not be read') await pass(5);
  await stage.pass(120_000);
  stage.start({ ...(what === 'may not be read' && { transport }) });
  await stage.pass(10_000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test('nobody reads them while nothing is under way', async () => {
  const asked: string[] = [];
  const transport: KubeTransport = {
    request: (request) => {
      if (request.path.includes('/kube-system/leases')) asked.push(request.path);
      return stage.transport.request(request);
    },
    watch: (watch) => stage.transport.watch(watch),
  };
  for (const name of ['a', 'b']) await stage.report(name, { current_version: '1.1.0' });
  stage.start({ transport });
  await stage.pass(600_000);
  expect(asked).toEqual([]);
});
