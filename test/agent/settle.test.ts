import { expect, test } from '@jest/globals';
import { Client } from '../kube/client.ts';
import { build, world } from './stage.ts';

const SET = '/apis/apps/v1/namespaces/shop/replicasets/web';
const LOOK = 'lookForDisplaced';

/** The drain of the node has displaced a pod of a ReplicaSet that has so many ready pods when the host is back. */
async function displaced(readyReplicas: number): Promise<Client> {
  build();
  const client = new Client(world.operator.transport);
  await world.operator.settled();
  const { metadata } = await client.create('/apis/apps/v1/namespaces/shop/replicasets', {
    metadata: { name: 'web' },
    spec: { replicas: 3 },
  });
  await client.patch(`${SET}/status`, { status: { readyReplicas } });
  const owner = { kind: 'ReplicaSet', namespace: 'shop', name: 'web', uid: metadata.uid, ready: 3 };
  world.operator.before = (ask) => {
    if (ask === 'uncordon') world.operator.overwrite({ displaced: { owners: [owner], missing: [] } });
  };
  return client;
}

const afterRelease = (): readonly string[] => {
  const { log } = world.operator;
  return log.includes('uncordon') ? log.slice(log.indexOf('uncordon') + 1) : [];
};

/** The controller keeps the node where it is once that is back. */
function holdOn(): void {
  world.operator.before = ((before) => (ask: Parameters<typeof before>[0]) => {
    before(ask);
    if (ask === 'putStatus' && afterRelease().length > 0) world.operator.holding = true;
  })(world.operator.before);
}

test('what the drain has displaced is looked at with the report that the node is back, and not again once all is', async () => {
  await displaced(3);
  await world.until(() => afterRelease().at(-1) === 'Idle ->1.39.0');
  expect(afterRelease()).toEqual(['RebootedIntoUpdate ->1.39.0', 'MonitoringUpdate ->1.39.0', 'Idle ->1.39.0']);
  expect(world.operator.status.displaced ?? null).toBeNull();
});

test('what is not back is looked at again and again until it is, or the controller goes on', async () => {
  const client = await displaced(2);
  holdOn();
  await world.until(() => afterRelease().includes('MonitoringUpdate ->1.39.0'));
  await world.advance(60_000);
  const looks = (): number => world.operator.log.filter((one) => one === LOOK).length;
  expect(looks()).toBeGreaterThan(10);
  expect(looks()).toBeLessThan(15);
  expect(world.operator.status.displaced?.missing).toEqual(['ReplicaSet shop/web: 2 of 3 ready']);
  await client.patch(`${SET}/status`, { status: { readyReplicas: 3 } });
  await world.advance(10_000);
  const last = looks();
  expect(world.operator.status.displaced ?? null).toBeNull();
  await world.advance(60_000);
  expect(looks()).toBe(last);
});

test('what is back soon after is seen to be then, and keeps the permit from others no longer', async () => {
  const client = await displaced(2);
  holdOn();
  await world.until(() => afterRelease().includes('MonitoringUpdate ->1.39.0'));
  await client.patch(`${SET}/status`, { status: { readyReplicas: 3 } });
  await world.advance(2_500);
  expect(world.operator.status.displaced ?? null).toBeNull();
});

test('an apiserver that knows of no such thing holds nothing up', async () => {
  await displaced(2);
  world.operator.answer = (ask) => (ask === LOOK ? { kind: 'failed', message: '404: no such path' } : undefined);
  await world.until(() => afterRelease().at(-1) === 'Idle ->1.39.0');
  expect(world.operator.status.current_version).toBe('1.39.0');
});
