import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { MARKS_ANNOTATION } from '../../runtime/marks/names.ts';
import { started } from '../apiserver/world.ts';
import { type Contract, contract } from './cluster.ts';
import { DrainWorld, type Replica } from './drain-world.ts';
import { eventually } from './eventually.ts';
import { deniesEvictions, withoutEvictions } from './policies.ts';

/** Drains by the apiserver's own engine, in this process, against the cluster. The pods' kubelet is the test. */

let cluster: Contract;
let world: DrainWorld;
beforeAll(async () => {
  cluster = await contract();
}, 60_000);
afterAll(() => cluster.stop());
beforeEach(async () => {
  world = await DrainWorld.create(cluster);
});
afterEach(() => world.end());

const drain = ({ service }: Replica): Promise<void> => started(service.cordonAndDrain(world.agent));

/** Status and reason of the refusal that a drain ends with. */
const refused = (status: number, reason: string): object => expect.objectContaining({ status, reason });

/** Lets a replica sleep before the next call that matches. */
function asleep(
  { tap }: Replica,
  matches: (request: KubeRequest) => boolean,
): { reached: Promise<void>; wake(): void } {
  const reached = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  tap.before = async (request) => {
    if (!matches(request)) return;
    tap.before = () => undefined;
    reached.resolve();
    await woken.promise;
  };
  return { reached: reached.promise, wake: () => woken.resolve() };
}

const proves = ({ method, body }: KubeRequest): boolean =>
  method === 'PATCH' && JSON.stringify(body).includes(String.raw`\"drained\"`);
const evicts = ({ path }: KubeRequest): boolean => path.endsWith('/eviction');

async function budget(name: string, minAvailable: number): Promise<void> {
  await cluster.admin.create(`/apis/policy/v1/namespaces/${world.namespace}/poddisruptionbudgets`, {
    metadata: { name },
    spec: { minAvailable, selector: { matchLabels: { app: 'web' } } },
  });
}

const progress = async (): Promise<unknown> => (await world.shadow()).status?.drain;

describe('a drain', () => {
  test('cordons the node, evicts its pods and proves it empty as the last of them goes', async () => {
    for (const name of ['web-1', 'web-2']) await world.addPod(name);
    const drained = drain(world.replica());
    await world.endPod('web-1');
    await world.endPod('web-2');
    await drained;
    expect(await world.isCordoned()).toBe(true);
    expect(await world.marks()).toMatchObject({
      boot: 'boot-1',
      drained: expect.stringMatching(/Z$/),
      owns: ['cordon', 'cluster-autoscaler', 'karpenter'],
    });
    expect(await progress()).toMatchObject({ pods_left: 0, blocked_by: [] });
  });

  test('ends within 100 ms of its last pod’s going, when the machine has nothing else to do', async () => {
    const replica = world.replica();
    const took: number[] = [];
    for (const name of ['web-1', 'web-2', 'web-3', 'web-4', 'web-5']) {
      await world.addPod(name);
      const drained = drain(replica);
      await world.endPod(name);
      const gone = performance.now();
      await drained;
      took.push(performance.now() - gone);
    }
    // A busy machine is slow for moments; a pause of the drain's own would be there each time.
    expect(Math.min(...took)).toBeLessThan(100);
  });

  test('waits for a budget, says which, and goes on once it allows', async () => {
    await world.addPod('web-1');
    await budget('web', 1);
    const drained = drain(world.replica());
    await eventually(async () =>
      expect(await progress()).toMatchObject({
        blocked_by: [`PodDisruptionBudget ${world.namespace}/web (pod ${world.namespace}/web-1)`],
      }),
    );
    await cluster.admin.delete(`/apis/policy/v1/namespaces/${world.namespace}/poddisruptionbudgets/web`);
    await world.endPod('web-1');
    await drained;
  });

  test('leaves the namesake alone that has taken a pod’s place on another node', async () => {
    await world.addPod('web-1');
    const replica = world.replica();
    const eviction = asleep(replica, evicts);
    const drained = drain(replica);
    await eviction.reached;
    await world.removePod('web-1');
    const path = `/api/v1/namespaces/${world.namespace}/pods`;
    const spec = { nodeName: cluster.node, containers: [{ name: 'main', image: 'web' }] };
    await eventually(() => cluster.admin.create(path, { metadata: { name: 'web-1' }, spec }));
    eviction.wake();
    await drained;
    expect((await cluster.admin.get(`${path}/web-1`)).metadata).not.toHaveProperty('deletionTimestamp');
  });

  test('waits for the pods of a namespace that ends', async () => {
    const ending = await cluster.namespace();
    await world.addPod('web-1', ending);
    await cluster.admin.delete(`/api/v1/namespaces/${ending}`);
    let isOver = false;
    const drained = drain(world.replica()).then(() => (isOver = true));
    await eventually(() => world.isCordoned().then((yes) => expect(yes).toBe(true)));
    expect(isOver).toBe(false);
    await world.endPod('web-1', ending);
    await drained;
  });

  test('ends with the word to ask again once its marks are gone', async () => {
    await world.addPod('web-1');
    const drained = drain(world.replica());
    await eventually(async () => expect(await world.marks()).toBeDefined());
    await world.patchNode({ metadata: { annotations: { [MARKS_ANNOTATION]: null } }, spec: { unschedulable: null } });
    await expect(drained).rejects.toEqual(refused(503, 'Superseded'));
    expect(await world.isCordoned()).toBe(false);
  });

  test('cordons again what somebody uncordons in its middle, and drains what came', async () => {
    await world.addPod('web-1');
    const drained = drain(world.replica());
    await eventually(async () => expect(await world.isCordoned()).toBe(true));
    const before = await world.marks();
    await world.patchNode({ spec: { unschedulable: null } });
    await world.addPod('landed');
    await eventually(async () => expect(await world.isCordoned()).toBe(true));
    for (const name of ['web-1', 'landed']) await world.endPod(name);
    await drained;
    expect((await world.marks())?.id).toBe(before?.id);
  });

  test('by two replicas is answered by both', async () => {
    await world.addPod('web-1');
    const drains = [world.replica(), world.replica()].map(drain);
    await world.endPod('web-1');
    await Promise.all(drains);
  });
});

describe('the last check', () => {
  test('is made anew where the node was changed since it was looked at', async () => {
    const replica = world.replica();
    const proof = asleep(replica, proves);
    const drained = drain(replica);
    await proof.reached;
    await world.patchNode({ spec: { unschedulable: null } });
    await world.addPod('landed');
    await world.patchNode({ spec: { unschedulable: true } });
    proof.wake();
    await world.endPod('landed');
    await drained;
    expect((await world.marks())?.drained).toBeDefined();
  });

  test('is no success where the pods cannot be listed', async () => {
    await world.addPod('web-1');
    const replica = world.replica();
    const drained = drain(replica);
    await eventually(() => expect(replica.tap.requests.some(evicts)).toBe(true));
    replica.tap.before = ({ method, path }) => {
      if (method === 'GET' && path === '/api/v1/pods') throw new UnreachableError('no answer');
    };
    await world.endPod('web-1');
    await expect(drained).rejects.toThrow('no answer');
    expect((await world.marks())?.drained).toBeUndefined();
  });
});

describe('a drain whose evictions are all refused ends at its deadline with who is left and why, and is no success', () => {
  async function expectFailed(replica: Replica, why: string): Promise<void> {
    const failed = drain(replica);
    await expect(failed).rejects.toEqual(refused(504, 'DrainTimeout'));
    await expect(failed).rejects.toThrow(why);
    expect(await world.isCordoned()).toBe(true);
    expect((await world.marks())?.drained).toBeUndefined();
    expect(await progress()).toMatchObject({ pods_left: 1, blocked_by: [expect.stringContaining(why)] });
  }

  beforeEach(() => world.addPod('web-1'));

  test('429: a budget', async () => {
    await budget('web', 1);
    await expectFailed(world.replica({ timeoutSec: 3 }), `PodDisruptionBudget ${world.namespace}/web`);
  });

  test('500: two budgets', async () => {
    for (const name of ['one', 'two']) await budget(name, 0);
    await expectFailed(world.replica({ timeoutSec: 3 }), 'refused with 500');
  });

  test('403: the role', async () => {
    const transport = await withoutEvictions(cluster);
    await expectFailed(world.replica({ timeoutSec: 3, transport }), 'refused with 403');
  });

  const onReal = process.env['CONTRACT_KUBECONFIG'] === undefined ? test.skip : test;
  onReal.each([
    ['Forbidden', 403],
    ['Invalid', 422],
  ] as const)('%s (%d): an admission policy, which the embedded cluster has none of', async (reason, code) => {
    await deniesEvictions(cluster, { namespace: world.namespace, reason, probe: 'web-1' });
    await expectFailed(world.replica({ timeoutSec: 3 }), `refused with ${code}`);
  });
});
