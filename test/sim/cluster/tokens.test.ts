import { expect, test } from '@jest/globals';
import { at } from '../../../sim/cluster/object.ts';
import { world } from './harness.ts';

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const AUDIENCE = 'brupop-apiserver';

test('a service account token expires', async () => {
  const { admin, clock } = world();
  await admin.create(ACCOUNTS, { metadata: { name: 'agent' } });
  const spec = { audiences: [AUDIENCE], expirationSeconds: 600 };
  const token = at(await admin.create(`${ACCOUNTS}/agent/token`, { spec }), 'status', 'token');
  const review = async (): Promise<unknown> => {
    const body = { spec: { token, audiences: [AUDIENCE] } };
    return at(await admin.create('/apis/authentication.k8s.io/v1/tokenreviews', body), 'status');
  };
  await clock.advance(599_000);
  expect(await review()).toMatchObject({ authenticated: true });
  await clock.advance(1000);
  expect(await review()).toMatchObject({ authenticated: false });
});
