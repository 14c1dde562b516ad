import { beforeEach, describe, expect, test } from '@jest/globals';
import type { VerifiedAgent } from '../../runtime/apiserver/auth/authenticator.ts';
import type { Service } from '../../runtime/apiserver/service.ts';
import { apiStatusError, type KubeStatus, UnreachableError } from '../../runtime/kube/errors.ts';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import type { Disturbance } from '../../lab/sim/cluster/cluster.ts';
import { evictions, outcome, type Replica, started, World } from './world.ts';

/** What becomes of what an agent asks for where the Kubernetes API refuses a part of it. */

let world: World;

beforeEach(async () => {
  world = await World.create();
});

describe('an eviction that never succeeds ends at the deadline, with who is left and why, and in no success:', () => {
  /** A drain of `web-1` up to its deadline of 50 seconds. @param words why the pod is left */
  async function expectLeft(replica: Replica, words: string): Promise<void> {
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(49_999);
    expect(await outcome(drain)).toBe('pending');
    await world.clock.advance(1);
    await expect(drain).rejects.toMatchObject({ status: 504, reason: 'DrainTimeout' });
    await expect(drain).rejects.toThrow(`left: shop/web-1 (${words})`);
    expect((await world.marks())?.drained).toBeUndefined();
    expect((await world.node()).spec?.unschedulable).toBe(true);
    expect(await world.events()).toEqual(['DrainStarted', 'DrainFailed']);
    expect((await world.shadow()).status?.drain).toMatchObject({
      pods_left: 1,
      blocked_by: [`${words} (pod shop/web-1)`],
    });
  }

  test.each<[string, KubeStatus, string]>([
    ['429 of a server that is busy', { code: 429 }, 'the Kubernetes API, which asks to wait'],
    ['422 of an admission policy', { code: 422, message: 'denied' }, 'refused with 422: denied'],
    ['409 of a webhook', { code: 409, message: 'denied' }, 'refused with 409: denied'],
    ['404 of a webhook', { code: 404, message: 'no such route' }, 'refused with 404: no such route'],
    // The words of each pod go into the status.
    ['500 in many words', { code: 500, message: 'x'.repeat(10_000) }, `refused with 500: ${'x'.repeat(300)}`],
  ])('%s', async (_, status, words) => {
    await world.addPod('web-1');
    world.cluster.disturb({ resource: 'pods', subresource: 'eviction', name: 'web-1' }, { kind: 'refuse', ...status });
    const replica = world.replica({ timeoutSec: 50 });
    await expectLeft(replica, words);
    // Ever more rarely, where it is refused above all, and never given up.
    expect(evictions(replica).length).toBeGreaterThanOrEqual(6);
    expect(evictions(replica).length).toBeLessThanOrEqual(status.code === 429 ? 20 : 9);
  });

  test('429 of a server that says when: it is asked then, and no sooner', async () => {
    await world.addPod('web-1');
    const wait = { code: 429, details: { retryAfterSeconds: 15 } };
    world.cluster.disturb({ resource: 'pods', subresource: 'eviction' }, { kind: 'refuse', ...wait });
    const replica = world.replica({ timeoutSec: 50 });
    await expectLeft(replica, 'the Kubernetes API, which asks to wait');
    expect(evictions(replica)).toHaveLength(4);
  });

  test('429 of a webhook that asks for a day: it is named, and asked again within a minute', async () => {
    await world.addPod('web-1');
    const message = 'admission webhook "pods.example" denied the request: warming up';
    const wait = { code: 429, message, details: { retryAfterSeconds: 86_400 } };
    const over = world.cluster.disturb({ resource: 'pods', subresource: 'eviction' }, { kind: 'refuse', ...wait });
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    await world.clock.advance(10_000);
    expect((await world.shadow()).status?.drain?.blocked_by).toEqual([
      'the admission webhook pods.example, which asks to wait (pod shop/web-1)',
    ]);
    over();
    await world.clock.advance(51_000);
    await world.endPod('web-1');
    expect(
      world.cluster.audit.filter(({ subresource, code }) => subresource === 'eviction' && code < 300),
    ).toHaveLength(1);
    expect(await outcome(drain)).toBe('ok');
  });

  test('no connection', async () => {
    await world.addPod('web-1');
    const replica = world.replica({ timeoutSec: 50 });
    replica.tap.before = ({ path }) => {
      if (path.endsWith('/eviction')) throw new UnreachableError('no connection');
    };
    await expectLeft(replica, 'no connection');
  });

  test('an answer that never comes', async () => {
    await world.addPod('web-1');
    world.cluster.disturb({ resource: 'pods', subresource: 'eviction' }, { kind: 'hang' });
    const words = 'POST /api/v1/namespaces/shop/pods/web-1/eviction: not done after 30000 ms';
    await expectLeft(world.replica({ timeoutSec: 50 }), words);
  });
});

describe('evictions that a busy API server turns away', () => {
  const EVICTION = { verbs: ['create'], resource: 'pods', subresource: 'eviction' } as const;
  const blockedBy = async (): Promise<readonly string[] | undefined> =>
    (await world.shadow()).status?.drain?.blocked_by;

  test('now and then are told as nothing that keeps a pod, and are asked for again as soon as they may', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `web-${index}`);
    for (const name of names) await world.addPod(name);
    let n = 0;
    world.cluster.disturb({ ...EVICTION, where: () => n++ % 3 !== 0 }, { kind: 'busy' });
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    const said: unknown[] = [];
    for (let second = 0; second < 8; second++) {
      await world.clock.advance(1000);
      said.push(...((await blockedBy()) ?? []));
    }
    expect(said).toEqual([]);
    expect((await world.pods()).filter((pod) => pod.metadata.deletionTimestamp === undefined)).toEqual([]);
    for (const name of names) await world.endPod(name);
    expect(await outcome(drain)).toBe('ok');
  });

  test('for ten seconds on end are told, in the name of the API server', async () => {
    await world.addPod('web-1');
    world.cluster.disturb(EVICTION, { kind: 'busy' });
    const replica = world.replica();
    const drain = started(replica.service.cordonAndDrain(await world.agent()));
    await world.clock.advance(9000);
    expect(await blockedBy()).toEqual([]);
    await world.clock.advance(6000);
    expect(await blockedBy()).toEqual(['the Kubernetes API, which asks to wait (pod shop/web-1)']);
    expect(await outcome(drain)).toBe('pending');
    replica.service.close();
  });
});

test('a pod whose namespace ends is refused its eviction and waited for', async () => {
  await world.addPod('web-1');
  const details = { causes: [{ reason: 'NamespaceTerminating' }] };
  const ends = { kind: 'refuse', code: 403, reason: 'Forbidden', details } as const;
  world.cluster.disturb({ resource: 'pods', subresource: 'eviction' }, ends);
  const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
  await world.clock.advance(5_000);
  await world.delete('/api/v1/namespaces/shop/pods/web-1');
  await world.clock.advance(5_000);
  expect((await world.shadow()).status?.drain).toMatchObject({ pods_left: 1, blocked_by: [] });
  await world.endPod('web-1');
  expect(await outcome(drain)).toBe('ok');
});

const ANSWERS: readonly (readonly [string, Error])[] = [
  ['403', apiStatusError('it', { code: 403, message: 'no right' })],
  ['500', apiStatusError('it', { code: 500, message: 'broken' })],
  ['no answer', new UnreachableError('no answer')],
];
const CONFLICT = apiStatusError('it', { code: 409, message: 'changed' });

/** What a drain only tells of, beside its work. */
const isTelling = ({ path }: KubeRequest): boolean => /\/(?:events|\w+webhookconfigurations)$/.test(path);
const lineOf = ({ method, path }: KubeRequest): string => `${method} ${path.split('/').slice(-2).join('/')}`;

/** The `index`th request of the replica, what is only told aside, has this answer. Later ones reach the cluster. */
function answer({ tap }: Replica, index: number, error: Error): void {
  let asked = 0;
  tap.before = (request) => {
    if (!isTelling(request) && asked++ === index) throw error;
  };
}

type Act = (service: Service, agent: VerifiedAgent) => Promise<void>;

/** What agents ask for, and the requests that it takes, in their order. */
const ACTS: readonly { name: string; act: Act; version?: string; requests: readonly string[] }[] = [
  {
    name: 'a drain',
    act: (service, agent) => service.cordonAndDrain(agent),
    requests: [
      'GET nodes/n1',
      'GET bottlerocketshadows/brs-n1',
      'GET v1/pods',
      'PATCH brs-n1/status',
      'PATCH nodes/n1',
      'GET v1/pods',
      'PATCH nodes/n1',
    ],
  },
  {
    name: 'an exclusion from load balancers',
    act: (service, agent) => service.excludeFromLb(agent),
    requests: ['GET nodes/n1', 'GET bottlerocketshadows/brs-n1', 'PATCH nodes/n1'],
  },
  {
    name: 'an uncordon',
    act: (service, agent) => service.uncordon(agent),
    version: '1.39.0',
    requests: ['GET nodes/n1', 'GET bottlerocketshadows/brs-n1', 'PATCH nodes/n1'],
  },
];

describe.each(ACTS)('$name', ({ act, version, requests }) => {
  /** An uncordon is of a node that was drained, and has come up at its version. */
  beforeEach(async () => {
    if (version === undefined) return;
    await world.replica().service.cordonAndDrain(await world.agent());
    await world.boots(version, 'boot-2');
  });

  test('takes so many requests', async () => {
    const { service, tap } = world.replica();
    await act(service, await world.agent());
    expect(tap.requests.filter((request) => !isTelling(request)).map(lineOf)).toEqual(requests);
  });

  describe.each(requests.map((line, index) => [line, index] as const))('whose %s (%d)', (line, index) => {
    test.each(ANSWERS)(
      'has %s fails with it, is no success, and is done when it is asked for again',
      async (_, error) => {
        const replica = world.replica();
        const [agent, before] = [await world.agent(), await world.node()];
        answer(replica, index, error);
        await expect(act(replica.service, agent)).rejects.toBe(error);
        const isChanged = requests.slice(0, index).includes('PATCH nodes/n1');
        if (!isChanged) expect(await world.node()).toEqual(before);
        else expect((await world.marks())?.drained).toBeUndefined();
        await act(replica.service, agent);
      },
    );

    if (line.startsWith('PATCH')) {
      test('comes after somebody else’s write looks again from the beginning', async () => {
        const replica = world.replica();
        answer(replica, index, CONFLICT);
        await act(replica.service, await world.agent());
        const from = replica.tap.requests.filter((request) => !isTelling(request)).slice(index + 1);
        expect(from.slice(0, 2).map(lineOf)).toEqual(requests.slice(0, 2));
      });
    }
  });
});

test.each<Disturbance>([{ kind: 'refuse', code: 403 }, { kind: 'hang' }])(
  'Events that cannot be written keep no drain waiting: %j',
  async (disturbance) => {
    world.cluster.disturb({ resource: 'events' }, disturbance);
    const drain = started(world.replica().service.cordonAndDrain(await world.agent()));
    expect(await outcome(drain)).toBe('ok');
    expect([(await world.marks())?.drained, await world.events()]).toEqual([expect.any(String), []]);
  },
);
