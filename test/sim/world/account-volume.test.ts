import { expect, test } from '@jest/globals';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { withAccountVolume } from '../../../sim/world/account-volume.ts';
import { containerOf } from '../../../sim/world/pod-template.ts';

/** Whether a pod finds a service account, by what it states and by what the account does. */
async function mounts(pod: boolean | undefined, account: boolean | undefined): Promise<boolean> {
  const flag = (value: boolean | undefined): object =>
    value === undefined ? {} : { automountServiceAccountToken: value };
  const spec = { containers: [{ name: 'main' }], ...flag(pod) };
  const transport = { request: async () => flag(account) } as unknown as KubeTransport;
  const given = { metadata: { name: 'p', namespace: 'ns' }, spec } as unknown as Pod;
  const paths = containerOf(await withAccountVolume(given, transport))?.volumeMounts?.map(({ mountPath }) => mountPath);
  return paths?.includes('/var/run/secrets/kubernetes.io/serviceaccount') ?? false;
}

test('the pod decides whether it mounts its account, else the account, else it does', async () => {
  expect(await mounts(undefined, undefined)).toBe(true);
  expect(await mounts(undefined, false)).toBe(false);
  expect(await mounts(true, false)).toBe(true);
  expect(await mounts(false, true)).toBe(false);
});
