import { afterEach, describe, expect, test } from '@jest/globals';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import { settle } from '../../../sim/clock.ts';
import { outcome, started } from '../world.ts';
import type { AnyOrder, Call } from './api.ts';
import {
  begins,
  cordoned,
  cordons,
  ends,
  evicts,
  follows,
  gone,
  listAnswers,
  lists,
  looks,
  node,
  NODES,
  pod,
  PODS,
  progress,
  proves,
  readsBudgets,
  refused,
  scenario,
  type Scenario,
  shadow,
  states,
  tells,
} from './scenario.ts';

let scene: Scenario;
afterEach(() => scene.api.end());

function drain(...script: readonly (Call | AnyOrder)[]): Promise<void> {
  scene = scenario(...script);
  return started(scene.service.cordonAndDrain(scene.agent));
}

const web = pod('web-1');
const ending = pod('web-1', { deletionTimestamp: '2026-01-01T00:00:30Z' });
const budget = (retryAfterSeconds?: number): Error =>
  refused(429, {
    details: {
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1' }],
    },
  });
const BLOCKED = 'PodDisruptionBudget shop/web (pod shop/web-1)';

describe('a drain', () => {
  test('of an empty node', async () => {
    const drained = drain(
      ...looks(node('n1'), shadow('s1')),
      lists(),
      states('s1', progress(0), shadow('s2', { drain: progress(0) })),
      cordons('n1', cordoned('n2')),
      [tells('DrainStarted'), lists()],
      proves('n2', node('n3')),
      tells('DrainFinished'),
    );
    expect(await outcome(drained)).toBe('ok');
  });

  test('of one pod', async () => {
    const drained = drain(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
    expect(await outcome(drained)).toBe('pending');
    scene.api.expects(...ends(1));
    gone(scene, 'web-1');
    expect(await outcome(drained)).toBe('ok');
    expect(scene.clock.monotonic()).toBe(0);
  });

  test('of a pod that ends already asks for no eviction', async () => {
    const drained = drain(...begins(ending), follows(cordoned('n2'), ending));
    expect(await outcome(drained)).toBe('pending');
    scene.api.expects(...ends(1));
    gone(scene, 'web-1');
    expect(await outcome(drained)).toBe('ok');
  });

  test.each([
    ['404', refused(404), []],
    ['409, and the name is another pod’s', refused(409), [podAnswers({ ...pod('web-1', { uid: 'uid-other' }) })]],
    ['409, and the name is nobody’s', refused(409), [podAnswers(refused(404))]],
  ] as const)('of a pod whose eviction is answered with %s asks no more', async (_answer, answer, then) => {
    const drained = drain(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1', answer), ...then]);
    await scene.clock.advance(30_000);
    expect(await outcome(drained)).toBe('pending');
    scene.api.expects(...ends(1));
    gone(scene, 'web-1');
    expect(await outcome(drained)).toBe('ok');
  });
});

function podAnswers(answer: unknown): Call {
  return { line: 'GET /api/v1/namespaces/shop/pods/web-1', answer };
}

describe('an eviction that a budget blocks', () => {
  const later = [1, 2].map(() => evicts('web-1', budget()));

  test('is asked for again after a pause that doubles', async () => {
    const drained = drain(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1', budget())]);
    await settle();
    scene.api.expects(...later);
    await scene.clock.advance(500);
    await scene.clock.advance(1_000);
    scene.api.expects(states('s2', progress(1, BLOCKED), shadow('s3')), evicts('web-1'));
    await scene.clock.advance(2_000);
    expect(await outcome(drained)).toBe('pending');
  });

  test('is asked for again when the answer says', async () => {
    void drain(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1', budget(10))]);
    await settle();
    scene.api.expects(states('s2', progress(1, BLOCKED), shadow('s3')));
    await scene.clock.advance(9_999);
    scene.api.expects(evicts('web-1'), states('s3', progress(1), shadow('s4')));
    await scene.clock.advance(2_001);
  });
});

describe('an eviction that never succeeds ends at the deadline, and in no success', () => {
  const terminating = refused(403, { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } });
  test.each<[string, unknown, string]>([
    ['403 of its role', refused(403, { message: 'no right' }), 'refused with 403: no right'],
    ['422 of an admission policy', refused(422, { message: 'denied' }), 'refused with 422: denied'],
    ['500 of a webhook', refused(500, { message: 'no webhook' }), 'refused with 500: no webhook'],
    ['403 of a namespace that ends', terminating, 'refused with 403: no'],
    ['429 of a budget', budget(15), 'PodDisruptionBudget shop/web'],
    ['no answer', new UnreachableError('timed out'), 'timed out'],
    ['409 for the pod itself', refused(409, { message: 'again' }), 'refused with 409: again'],
  ])('%s', async (_why, answer, words) => {
    const why = `${words} (pod shop/web-1)`;
    const asks = (): Call[] => [evicts('web-1', answer), ...(words.includes('409') ? [podAnswers(web)] : [])];
    const drained = drain(...begins(web), [...follows(cordoned('n2'), web), ...asks()]);
    await settle();
    const tries = words.includes('Budget') ? [15, 30, 45] : [1, 3, 7, 15, 30, 45];
    for (const second of tries.slice(0, 1)) {
      scene.api.expects([...asks(), states('s2', progress(1, why), shadow('s3', { drain: progress(1, why) }))]);
      await scene.clock.advance(Math.max(second, 2) * 1000);
    }
    for (const second of tries.slice(1)) {
      scene.api.expects(asks());
      await scene.clock.advance(second * 1000 - scene.clock.monotonic());
    }
    scene.api.expects(
      ...looks(cordoned('n2'), shadow('s3', { drain: progress(1, why) })),
      lists(web),
      states('s3', progress(1, why), shadow('s3')),
      tells('DrainFailed'),
    );
    await scene.clock.advance(50_000 - scene.clock.monotonic());
    expect(await outcome(drained)).toBe('504 DrainTimeout');
    await expect(drained).rejects.toThrow(`shop/web-1 (${words})`);
  });

  test('an answer that never comes', async () => {
    const silence = new Promise(() => undefined);
    const drained = drain(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1', silence)]);
    await scene.clock.advance(49_999);
    scene.api.expects(
      ...looks(cordoned('n2'), shadow('s2', { drain: progress(1) })),
      lists(web),
      states('s2', progress(1), shadow('s2')),
      tells('DrainFailed'),
    );
    await scene.clock.advance(1);
    await expect(drained).rejects.toThrow('shop/web-1 (not evicted yet)');
  });
});

describe('the last check', () => {
  const ofOnePod = (): Promise<void> => drain(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
  const [atNode, atShadow, list, status] = ends(1);

  test.each([
    ['500', refused(500), '500'],
    ['403', refused(403), '403'],
    ['no answer', new UnreachableError('timed out'), 'timed out'],
  ])('is no success where the list fails with %s', async (_why, answer, words) => {
    const drained = ofOnePod();
    await settle();
    scene.api.expects(atNode!, atShadow!, listAnswers(answer));
    gone(scene, 'web-1');
    await expect(drained).rejects.toThrow(words);
  });

  test('is made anew where the node changed since it was looked at', async () => {
    const drained = ofOnePod();
    await settle();
    scene.api.expects(atNode!, atShadow!, list!, status!, proves('n2', refused(409)));
    scene.api.expects(
      ...looks(cordoned('n4'), shadow('s3', { drain: progress(0) })),
      lists(),
      states('s3', progress(0), shadow('s3')),
      proves('n4', node('n5')),
      tells('DrainFinished'),
    );
    gone(scene, 'web-1');
    expect(await outcome(drained)).toBe('ok');
  });

  test('is made anew where the shadow changed since it was looked at', async () => {
    const drained = ofOnePod();
    await settle();
    scene.api.expects(atNode!, atShadow!, list!, states('s2', progress(0), refused(409)));
    scene.api.expects(
      ...looks(cordoned('n2'), shadow('s4', { drain: progress(1) })),
      lists(),
      states('s4', progress(0), shadow('s5')),
      proves('n2', node('n3')),
      tells('DrainFinished'),
    );
    gone(scene, 'web-1');
    expect(await outcome(drained)).toBe('ok');
  });

  test('is no success where the proof is refused', async () => {
    const drained = ofOnePod();
    await settle();
    scene.api.expects(atNode!, atShadow!, list!, status!, proves('n2', refused(403)));
    gone(scene, 'web-1');
    await expect(drained).rejects.toThrow('403');
  });
});

describe('in the middle of a drain', () => {
  const ofOnePod = (): Promise<void> => drain(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);

  test('marks that vanish end it with the word to ask again', async () => {
    const drained = ofOnePod();
    await settle();
    scene.api.tell(NODES, { type: 'MODIFIED', object: node('n3') });
    expect(await outcome(drained)).toBe('503 Superseded');
  });

  test('a node that vanishes ends it so too', async () => {
    const drained = ofOnePod();
    await settle();
    scene.api.tell(NODES, { type: 'DELETED', object: node('n3') });
    expect(await outcome(drained)).toBe('503 Superseded');
  });

  test('a pod that lands is evicted', async () => {
    const drained = ofOnePod();
    await settle();
    scene.api.expects(evicts('late'));
    scene.api.tell(PODS, { type: 'ADDED', object: pod('late') });
    expect(await outcome(drained)).toBe('pending');
  });
});

describe('a node is not cordoned', () => {
  test('where the status cannot be written', async () => {
    const drained = drain(
      ...looks(node('n1'), shadow('s1')),
      lists(web),
      readsBudgets(),
      states('s1', progress(1), refused(403)),
    );
    await expect(drained).rejects.toThrow('403');
  });

  test('where the shadow changed since it was looked at, and no drain is wanted any more', async () => {
    const drained = drain(
      ...looks(node('n1'), shadow('s1')),
      lists(),
      states('s1', progress(0), refused(409)),
      ...looks(node('n1'), shadow('s2', { state: 'Idle' })),
    );
    expect(await outcome(drained)).toBe('409 NotAllowed');
  });

  test('where the node changed since it was looked at, and no drain is wanted any more', async () => {
    const drained = drain(
      ...looks(node('n1'), shadow('s1')),
      lists(),
      states('s1', progress(0), shadow('s2')),
      cordons('n1', refused(409)),
      ...looks(node('n2'), shadow('s3', { state: 'Idle' })),
    );
    expect(await outcome(drained)).toBe('409 NotAllowed');
  });
});
