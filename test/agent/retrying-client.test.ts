import { expect, test } from '@jest/globals';
import type { AgentApi, ApiAnswer } from '../../runtime/agent/apiserver/client.ts';
import { RetryingClient } from '../../runtime/agent/apiserver/retrying-client.ts';
import type { View } from '../../runtime/agent/decide.ts';
import { childAbort } from '../../runtime/lib/abort.ts';
import { Latest } from '../../runtime/lib/latest.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

const ANSWER_MS = 60_000;

/** The pauses before each of the next requests, where every answer takes a minute and grants nothing. */
async function pauses(talk: (client: RetryingClient, signal: AbortSignal) => Promise<void>): Promise<number[]> {
  const clock = new VirtualClock();
  const asked: number[] = [];
  const ask = async (): Promise<ApiAnswer> => {
    asked.push(clock.monotonic());
    await clock.sleep(ANSWER_MS);
    return { kind: 'again', message: 'no answer' };
  };
  const api: AgentApi = { createShadow: ask, putStatus: ask, act: ask };
  const view = new Latest<View>({ shadow: undefined, nodeUid: 'u', bootId: 'b', version: '1.0.0' });
  const readUid = async (): Promise<string> => 'u';
  const random = (): number => 0.5;
  const client = new RetryingClient({ nodeName: 'n', api, clock, random, logger: silentLogger, view, readUid });
  const stop = new AbortController();
  const ended = talk(client, stop.signal).catch(() => undefined);
  await clock.advance(4.5 * ANSWER_MS);
  stop.abort(new Error('over'));
  await clock.advance(ANSWER_MS);
  await ended;
  return asked.slice(1).map((time, index) => time - asked[index]! - ANSWER_MS);
}

test('an apiserver that is long in answering is asked for a shadow ever less often', async () => {
  expect(await pauses((client, signal) => client.createShadow(signal))).toEqual([100, 200, 400, 800]);
});

test('a drain is waited for again at once, because nobody would wait for it in a pause', async () => {
  expect(await pauses((client, signal) => client.act('cordonAndDrain', signal))).toEqual([100, 100, 100, 100]);
});

test.each([
  ['after', 0],
  ['before', 30],
])(
  'a shadow that is deleted as soon as it is made, and seen %s the answer, is made every ten seconds at most',
  async (_, answerMs) => {
    const clock = new VirtualClock();
    const view = new Latest<View>({ shadow: undefined, nodeUid: 'u', bootId: 'b', version: '1.0.0' });
    const shadow = { metadata: { name: 'brs-n', resourceVersion: '1' }, spec: { state: 'Idle' } } as View['shadow'];
    const made: number[] = [];
    const createShadow: AgentApi['createShadow'] = async (_caller, signal) => {
      made.push(clock.monotonic());
      view.set({ ...view.value, shadow });
      void clock.sleep(20).then(() => view.set({ ...view.value, shadow: undefined }));
      if (answerMs > 0) await clock.sleep(answerMs, signal);
      return { kind: 'ok' };
    };
    const api = { createShadow } as Partial<AgentApi> as AgentApi;
    const parts = { clock, random: () => 0.5, logger: silentLogger, readUid: async () => 'u' };
    const client = new RetryingClient({ nodeName: 'n', api, view, ...parts });
    const stop = new AbortController();
    const ended = (async () => {
      for (;;) {
        const life = childAbort(stop.signal);
        const unwatch = view.onChange(() => life.abort(new Error('another step is wanted')));
        await client.createShadow(life.signal).catch(() => stop.signal.throwIfAborted());
        unwatch();
        life.release();
        await view.until(() => view.value.shadow === undefined, stop.signal);
      }
    })().catch(() => undefined);
    await clock.advance(35_000);
    stop.abort(new Error('over'));
    await ended;
    expect(made).toEqual([0, 10_000, 20_000, 30_000]);
  },
);

test('an agent that the apiserver has not accepted for five minutes on end ends with the words that it is answered', async () => {
  const clock = new VirtualClock();
  let isOut = false;
  const answer = async (): Promise<ApiAnswer> =>
    isOut ? { kind: 'again', message: 'no answer' } : { kind: 'unauthorized', message: '401: the node is gone' };
  const api: AgentApi = { createShadow: answer, putStatus: answer, act: answer };
  const view = new Latest<View>({ shadow: undefined, nodeUid: 'u', bootId: 'b', version: '1.0.0' });
  const readUid = async (): Promise<string> => 'u';
  const random = (): number => 0.5;
  const client = new RetryingClient({ nodeName: 'n', api, clock, random, logger: silentLogger, view, readUid });
  let end = '';
  void client.createShadow(new AbortController().signal).catch((error: Error) => (end = error.message));
  await clock.advance(250_000);
  isOut = true;
  await clock.advance(60_000);
  isOut = false;
  await clock.advance(290_000);
  expect(end).toBe('');
  await clock.advance(70_000);
  expect(end).toBe('the apiserver does not accept this agent: 401: the node is gone');
});

test('an agent does not end for two refusals that lie far apart, with accepted requests between them', async () => {
  const clock = new VirtualClock();
  const no: ApiAnswer = { kind: 'unauthorized', message: '401: not now' };
  const answers = [no, 'seen first', no] as const;
  let asked = 0;
  const superseded = new AbortController();
  const act: AgentApi['act'] = async () => {
    const answer = answers[asked++] ?? { kind: 'ok' };
    if (answer !== 'seen first') return answer;
    // The watch has shown what was asked for before its answer came, and another step is wanted.
    superseded.abort(new Error('another step is wanted'));
    throw superseded.signal.reason;
  };
  const other = async (): Promise<ApiAnswer> => ({ kind: 'ok' });
  const api: AgentApi = { createShadow: other, putStatus: other, act };
  const view = new Latest<View>({ shadow: undefined, nodeUid: 'u', bootId: 'b', version: '1.0.0' });
  const readUid = async (): Promise<string> => 'u';
  const random = (): number => 0.5;
  const client = new RetryingClient({ nodeName: 'n', api, clock, random, logger: silentLogger, view, readUid });
  const first = client.act('uncordon', superseded.signal).catch((error: Error) => error.message);
  await clock.advance(1000);
  expect(await first).toBe('another step is wanted');
  await clock.advance(3_600_000);
  const later = client.act('uncordon', new AbortController().signal).then(
    () => 'ok',
    (error: Error) => error.message,
  );
  await clock.advance(1000);
  expect(await later).toBe('ok');
});
