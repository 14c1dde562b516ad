import { expect } from '@jest/globals';
import { UnreachableError } from '../../../runtime/kube/errors.ts';
import { settle } from '../../../sim/clock.ts';
import { play } from '../scenarios.ts';
import { outcome } from '../world.ts';
import type { Call } from './api.ts';
import {
  begins,
  cordoned,
  evicts,
  follows,
  lists,
  looks,
  pod,
  podAnswers,
  progress,
  refused,
  shadow,
  states,
  tells,
} from './scenario.ts';
import { Stage } from './stage.ts';

const on = new Stage();

const web = pod('web-1');
/** @param retryAfterSeconds when to ask again, where the answer says */
const blocked = (retryAfterSeconds?: number): Error =>
  refused(429, {
    details: {
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      causes: [{ reason: 'DisruptionBudget', message: 'The disruption budget web needs 1 healthy pods and has 1' }],
    },
  });
const BUDGET = 'PodDisruptionBudget shop/web';
const BLOCKED = progress(1, `${BUDGET} (pod shop/web-1)`);

/** A drain whose first eviction has this answer. */
async function begun(answer: unknown, ...also: readonly Call[]): Promise<{ readonly drained: Promise<void> }> {
  const drained = on.drains(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1', answer), ...also]);
  await settle();
  return { drained };
}

interface Failure {
  readonly answer: unknown;
  /** What else is asked because of the answer. */
  readonly also?: readonly Call[];
  /** Why the pod is left. */
  readonly words: string;
  /** Seconds from the beginning at which the eviction is asked for again. */
  readonly tries?: readonly number[];
}

async function fails({ answer, words, also = [], tries = [1, 3, 7, 15, 30, 45] }: Failure): Promise<void> {
  const { drained } = await begun(answer, ...also);
  const { api, clock } = on.scene;
  const stated = progress(1, `${words} (pod shop/web-1)`);
  const asks = [evicts('web-1', answer), ...also];
  const reach = (second: number): Promise<void> => clock.advance(second * 1_000 - clock.monotonic());
  const [first = 0, ...later] = tries;
  api.expects([...asks, states('s2', stated, shadow('s3', { drain: stated }))]);
  // The progress is written two seconds after it changed.
  await reach(Math.max(first, 2));
  for (const second of later) {
    api.expects(asks);
    await reach(second);
  }
  api.expects(
    ...looks(cordoned('n2'), shadow('s3', { drain: stated })),
    lists(web),
    states('s3', stated, shadow('s4')),
    tells('DrainFailed', `shop/web-1 (${words})`),
  );
  await reach(50);
  expect(await outcome(drained)).toBe('504 DrainTimeout');
  await expect(drained).rejects.toThrow(`shop/web-1 (${words})`);
}

const refusedFor = (code: number, message: string): Promise<void> =>
  fails({ answer: refused(code, { message }), words: `refused with ${code}: ${message}` });

play('an eviction that must wait', {
  'is asked for again after a pause, and the budget in its way is named': async () => {
    const { drained } = await begun(blocked());
    const { api, clock } = on.scene;
    for (const pause of [500, 1_000]) {
      api.expects(evicts('web-1', blocked()));
      await clock.advance(pause);
    }
    api.expects(states('s2', BLOCKED, shadow('s3')), evicts('web-1'));
    await clock.advance(2_000);
    expect(await outcome(drained)).toBe('pending');
  },

  'is asked for again when the answer says': async () => {
    await begun(blocked(10));
    const { api, clock } = on.scene;
    api.expects(states('s2', BLOCKED, shadow('s3')));
    await clock.advance(9_999);
    api.expects(evicts('web-1'), states('s3', progress(1), shadow('s4')));
    await clock.advance(2_001);
  },
});

const TERMINATING = { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } };

play('an eviction that never succeeds ends at the deadline, with who is left and why, and in no success', {
  '429 of a budget': () => fails({ answer: blocked(15), words: BUDGET, tries: [15, 30, 45] }),
  '429 of a server that says when': () =>
    fails({
      answer: refused(429, { details: { retryAfterSeconds: 15 } }),
      words: 'the Kubernetes API asks to wait',
      tries: [15, 30, 45],
    }),
  '500 of two budgets at once': () => refusedFor(500, 'two budgets'),
  '403 of its role': () => refusedFor(403, 'no right'),
  '403 of an admission policy': () => refusedFor(403, 'denied'),
  '422 of an admission policy': () => refusedFor(422, 'denied'),
  '403 of a webhook': () => refusedFor(403, 'the webhook denied it'),
  '409 of a webhook': () =>
    fails({
      answer: refused(409, { message: 'the webhook denied it' }),
      also: [podAnswers(web)],
      words: 'refused with 409: the webhook denied it',
    }),
  '404 of a webhook': () =>
    fails({
      answer: refused(404, { message: 'no such route' }),
      also: [podAnswers(web)],
      words: 'refused with 404: no such route',
    }),
  '500 of a webhook that cannot be reached': () => refusedFor(500, 'no webhook'),
  '500 of a webhook that does not answer in time': () => refusedFor(500, 'context deadline exceeded'),
  '403 of a namespace that ends': () =>
    fails({ answer: refused(403, { message: 'it ends', ...TERMINATING }), words: 'refused with 403: it ends' }),
  'no connection': () => fails({ answer: new UnreachableError('no connection'), words: 'no connection' }),

  'an answer that never comes': async () => {
    const { drained } = await begun(new Promise(() => undefined));
    const { api, clock } = on.scene;
    await clock.advance(49_999);
    api.expects(
      ...looks(cordoned('n2'), shadow('s2', { drain: progress(1) })),
      lists(web),
      states('s2', progress(1), shadow('s2')),
      tells('DrainFailed'),
    );
    await clock.advance(1);
    await expect(drained).rejects.toThrow('shop/web-1 (not evicted yet)');
  },
});
