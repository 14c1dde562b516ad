import { describe, expect, test } from '@jest/globals';
import type { Lease } from '../../../runtime/kube/objects.ts';
import { CONTROLLER_LEASE, NAMESPACE } from '../../../runtime/shadow/names.ts';
import { MINUTE, Rig } from './rig.ts';

const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;

describe('people of the simulation', () => {
  test('write nothing where a node is as they want it', async () => {
    const rig = await Rig.at();
    const { people } = rig.environment;
    const version = async (): Promise<string> => (await rig.node()).metadata.resourceVersion;
    const before = await version();
    people.uncordon('node-1');
    await rig.pass(1000);
    expect(await version()).toBe(before);
    people.cordon('node-1');
    await rig.pass(1000);
    const cordoned = await version();
    people.cordon('node-1');
    await rig.pass(1000);
    expect(await version()).toBe(cordoned);
    expect(cordoned).not.toBe(before);
  });

  test('who take the Lease leave on it what others have written', async () => {
    const rig = await Rig.at();
    const metadata = { name: CONTROLLER_LEASE, annotations: { slots: '[]' } };
    await rig.admin.create(LEASES, { metadata, spec: { holderIdentity: 'controller', leaseDurationSeconds: 15 } });
    rig.environment.people.stealLease();
    rig.environment.people.annotateLease();
    await rig.pass(1000);
    const lease = await rig.admin.get<Lease>(`${LEASES}/${CONTROLLER_LEASE}`);
    expect(lease?.spec).toMatchObject({ holderIdentity: 'somebody-else', leaseDurationSeconds: 15 });
    expect(lease?.metadata.annotations).toMatchObject({ slots: '[]', 'example.com/seen': expect.any(String) });
  });

  test('who turn a clock make its kubelet state wrong times, and change no duration', async () => {
    const rig = await Rig.at();
    rig.environment.machines.setClock('node-1', -90 * MINUTE);
    expect(rig.containers.get('agent-node-1')?.offMs()).toBe(-90 * MINUTE);
    rig.environment.machines.crashAgent('node-1');
    await rig.pass(3000);
    const [container] = (await rig.agent())?.status?.containerStatuses ?? [];
    const offMs = Date.parse(container?.state?.running?.startedAt ?? '') - rig.time.now();
    expect(Math.round(offMs / MINUTE)).toBe(-90);
    expect(rig.when('agent-node-1 starts').at(-1)).toBe((rig.when('agent-node-1 killed').at(-1) ?? 0) + 1000);
  });
});
