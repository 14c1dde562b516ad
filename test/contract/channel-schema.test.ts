import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readChannel } from '../../runtime/api/k3os/channel.ts';
import type { ChannelObject } from '../../runtime/api/k3os/model.ts';
import { find, manifests } from '../infra/manifests.ts';
import { refusal } from '../kube/client.ts';
import { type Contract, contract } from './cluster.ts';
import { eventually } from './eventually.ts';
import { CRDS } from './gadget.ts';

/** Of this file alone, as others define the kind too. */
const OWN_GROUP = 'channels.example.com';
const DEFINITION = `updatechannels.${OWN_GROUP}`;
const CHANNELS = `/apis/${OWN_GROUP}/v1/namespaces/default/updatechannels`;

const channel = (spec: unknown, name = 'github-releases'): object => ({
  apiVersion: `${OWN_GROUP}/v1`,
  kind: 'UpdateChannel',
  metadata: { name, namespace: 'default' },
  spec,
});

let cluster: Contract;
beforeAll(async () => {
  cluster = await contract();
  const definition = find(manifests({ k3os: { enabled: true } }), 'CustomResourceDefinition', 'updatechannels.k3os.io');
  const { spec, ...rest } = definition;
  await cluster.admin.create(CRDS, { ...rest, metadata: { name: DEFINITION }, spec: { ...spec, group: OWN_GROUP } });
  await eventually(() => cluster.admin.create(CHANNELS, channel({}), { dryRun: 'All' }));
});
afterAll(async () => {
  await cluster.admin.delete(`${CRDS}/${DEFINITION}`);
  await cluster.stop();
});

describe('the definition of channels takes', () => {
  test.each([
    [{ concurrency: 1, url: 'github-releases://rancher/k3os', version: 'v0.11.0' }],
    [{ concurrency: 0, url: 'github-releases://rancher/k3os', version: 'latest' }],
    // As the preview's did: who reads it says what is wrong.
    [{ concurrency: -1, url: 'ftp://k3os', version: '' }],
    [{ concurrency: null, url: null, version: null }],
    [{}],
  ])('%j', async (spec) => {
    const made = await cluster.admin.create(CHANNELS, channel(spec), { dryRun: 'All', fieldValidation: 'Strict' });
    expect(readChannel(made as unknown as ChannelObject).faults).toEqual(
      readChannel({ ...(made as unknown as ChannelObject), spec }).faults,
    );
  });
});

test.each([[{ concurrency: '1' }], [{ url: 7 }], [{ version: ['v1.0.0'] }]])('it refuses %j', async (spec) => {
  expect(await refusal(cluster.admin.create(CHANNELS, channel(spec), { dryRun: 'All' }))).toMatchObject({ code: 422 });
});

test('spec and status are written in one, and a write on an older version of it is a conflict', async () => {
  const made = await cluster.admin.create(CHANNELS, channel({ concurrency: 1, version: 'latest' }, 'written'));
  const { resourceVersion } = made['metadata'] as { resourceVersion: string };
  const conditions = [
    { type: 'Resolved', status: 'True', reason: 'Found', message: 'm', lastTransitionTime: '2026-11-22T12:00:00Z' },
  ];
  const patch = {
    metadata: { resourceVersion },
    spec: { version: 'v0.11.0' },
    status: { polling: '', upgrading: ['n1'], conditions },
  };
  expect(await cluster.admin.patch(`${CHANNELS}/written`, patch)).toMatchObject({
    spec: { concurrency: 1, version: 'v0.11.0' },
    status: patch.status,
  });
  expect(await refusal(cluster.admin.patch(`${CHANNELS}/written`, patch))).toMatchObject({ code: 409 });
});
