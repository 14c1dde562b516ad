import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { PUBLIC_PATHS } from '../../runtime/apiserver/config.ts';
import type { Status } from '../../runtime/api/shadow/model.ts';
import { CRD_NAME, shadowName } from '../../runtime/api/shadow/names.ts';
import { crdSchema } from '../../runtime/api/shadow/schema.ts';
import { webhookDialer } from '../../lab/sim/world/webhooks.ts';
import { ca, HttpsWorld, SERVICE } from './https-world.ts';
import { SHADOWS, type World } from './world.ts';

/** What nobody but v2 can say of the node: failed, blamed on a release, with the record of a reboot and of a drain. */
const FAILED: Status = {
  current_version: '1.38.0',
  target_version: '1.39.0',
  current_state: 'ErrorReset',
  crash_count: 3,
  state_transition_failure_timestamp: '2026-01-01T00:00:00Z',
  failed_versions: ['1.39.0'],
  reboot: { boot_id: 'boot-1', version: '1.39.0', requested_at: '2026-01-01T00:00:00Z' },
  drain: { started_at: '2026-01-01T00:00:00Z', pods_left: 2, blocked_by: ['PodDisruptionBudget shop/web'] },
  last_failure: {
    state: 'RebootedIntoUpdate',
    reason: 'BootFailed',
    message: 'rolled back',
    time: '2026-01-01T00:00:00Z',
  },
  conditions: [
    { type: 'UpToDate', status: 'False', reason: 'Halted', message: 'm', lastTransitionTime: '2026-01-01T00:00:00Z' },
  ],
};
const NAME = shadowName('n1');
const V1 = `${SHADOWS.replace('/v2/', '/v1/')}/${NAME}`;

let https: HttpsWorld;
let world: World;

/** The API server asks the replica for conversions, over TLS. */
beforeEach(async () => {
  https = await HttpsWorld.create();
  ({ world } = https);
  world.cluster.setWebhooks(webhookDialer(() => https.server.port));
  const [name, namespace] = SERVICE.split('.');
  const clientConfig = {
    caBundle: Buffer.from(ca.certPem).toString('base64'),
    service: { name, namespace, path: PUBLIC_PATHS.crdConvert },
  };
  const versions = (['v1', 'v2'] as const).map((version) => ({
    name: version,
    served: true,
    storage: version === 'v2',
    schema: { openAPIV3Schema: crdSchema(version) },
    subresources: { status: {} },
  }));
  await world.patch(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${CRD_NAME}`, {
    spec: {
      versions,
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v2', 'v1'], clientConfig } },
    },
  });
  await world.patch(`${SHADOWS}/${NAME}/status`, { status: FAILED });
});

afterEach(() => https.close());

test('a client that annotates a shadow as v1 changes nothing of what v2 says: the release stays halted, the failure stays one', async () => {
  const before = await world.shadow();
  // As `kubectl annotate bottlerocketshadows.v1.brupop.bottlerocket.aws` does.
  await world.patch(V1, { metadata: { annotations: { 'example.com/by': 'v1' } } });
  const { metadata, spec, status } = await world.shadow();
  expect({ spec, status }).toEqual({ spec: before.spec, status: FAILED });
  expect(metadata.annotations).toEqual({ 'example.com/by': 'v1' });
});

test('an older controller that writes spec as v1 leaves the status as it is, and what it writes is what counts', async () => {
  await world.patch(V1, { spec: { state: 'Idle', version: null, state_transition_timestamp: '2026-01-01T00:01:00Z' } });
  const { spec, status } = await world.shadow();
  expect(spec).toEqual({ state: 'Idle', state_transition_timestamp: '2026-01-01T00:01:00Z' });
  expect(status).toEqual(FAILED);
});

test('an older agent that reports as v1 begins a status of its own: no record of a reboot or drain is left of the one before', async () => {
  await world.patch(`${V1}/status`, { status: { current_state: 'Idle' } });
  const { spec, status } = await world.shadow();
  expect(spec).toMatchObject({ state: 'RebootedIntoUpdate', version: '1.39.0' });
  expect(status).toEqual({
    current_version: '1.38.0',
    target_version: '1.39.0',
    current_state: 'Idle',
    crash_count: 0,
  });
});

test('a client that makes up the annotation gets a shadow that says what v1 says', async () => {
  const lie = { ...FAILED, crash_count: 0, current_state: 'Idle' };
  const data = JSON.stringify({ spec: { state: 'Idle' }, status: lie });
  await world.patch(V1, { metadata: { annotations: { 'brupop.bottlerocket.aws/conversion-data': data } } });
  const { metadata, spec, status } = await world.shadow();
  expect(metadata.annotations).toBeUndefined();
  expect(spec).toMatchObject({ state: 'RebootedIntoUpdate', version: '1.39.0' });
  expect(status).toMatchObject({ current_state: 'MonitoringUpdate', crash_count: 0 });
});
