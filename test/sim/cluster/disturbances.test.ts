import { expect, test } from '@jest/globals';
import { ApiStatusError, UnreachableError } from '../../../runtime/kube/errors.ts';
import { nodesOf } from '../../../runtime/kube/resources.ts';
import { settle, VirtualClock } from '../../../sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../../sim/cluster/cluster.ts';

const LABELLED = { labels: { touched: 'yes' } };

async function twoNodes() {
  const clock = new VirtualClock();
  const cluster = new EmbeddedCluster({ clock, random: () => 0.5 });
  const transport = cluster.transport(ADMIN);
  for (const name of ['a', 'b']) {
    await transport.request({ method: 'POST', path: '/api/v1/nodes', body: { metadata: { name } } });
  }
  const nodes = nodesOf(transport);
  const label = async (name: string, signal?: AbortSignal): Promise<unknown> => {
    const { resourceVersion } = (await nodes.get(name))!.metadata;
    return nodes.patch(name, { metadata: { ...LABELLED, resourceVersion } }, signal);
  };
  const isLabelled = async (name: string): Promise<boolean> => (await nodes.get(name))!.metadata.labels !== undefined;
  return { clock, cluster, label, isLabelled };
}

test('a refusal for one object: nothing is written, and the others are as ever', async () => {
  const { cluster, label, isLabelled } = await twoNodes();
  const end = cluster.disturb({ resource: 'nodes', name: 'a' }, { kind: 'refuse', code: 403, reason: 'Denied' });
  const refusal = await label('a').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ApiStatusError);
  expect(refusal).toMatchObject({ status: { code: 403, reason: 'Denied' } });
  await label('b');
  expect([await isLabelled('a'), await isLabelled('b')]).toEqual([false, true]);
  end();
  await label('a');
  expect(await isLabelled('a')).toBe(true);
});

test('a request that hangs is given up after 30 s, and carried out when what held it is gone', async () => {
  const { clock, cluster, label, isLabelled } = await twoNodes();
  const end = cluster.disturb({ resource: 'nodes', name: 'a' }, { kind: 'hang' });
  let outcome: unknown;
  void label('a').catch((error: unknown) => (outcome = error));
  await clock.advance(29_000);
  expect(outcome).toBeUndefined();
  await clock.advance(1000);
  expect(outcome).toBeInstanceOf(UnreachableError);
  expect(await isLabelled('a')).toBe(false);
  end();
  await settle();
  expect(await isLabelled('a')).toBe(true);
});

test('who sent it need not wait that long', async () => {
  const { cluster, label } = await twoNodes();
  cluster.disturb({ resource: 'nodes', name: 'a' }, { kind: 'hang' });
  const impatient = new AbortController();
  const asked = label('a', impatient.signal);
  await settle();
  impatient.abort(new Error('enough'));
  await expect(asked).rejects.toThrow('enough');
});
