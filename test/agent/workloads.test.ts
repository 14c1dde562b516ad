import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { VirtualClock } from '../../lab/sim/clock.ts';
import type { AgentApi, ApiAnswer } from '../../runtime/agent/apiserver/client.ts';
import type { View } from '../../runtime/agent/decide.ts';
import { askForLooks } from '../../runtime/agent/looks.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { Latest } from '../../runtime/lib/latest.ts';

/** A fleet at rest asks for no look at its pods. */

const MINUTE = 60_000;
let clock: VirtualClock;
let view: Latest<View>;
let asked: number;
let answer: ApiAnswer;
let end: AbortController;

beforeEach(() => {
  clock = new VirtualClock();
  view = new Latest(viewOf({ state: 'Idle' }));
  [asked, answer, end] = [0, { kind: 'ok' }, new AbortController()];
  const api: Pick<AgentApi, 'act'> = {
    act: async () => {
      asked += 1;
      return answer;
    },
  };
  askForLooks({ nodeName: 'n1', api, clock, view }, end.signal).catch(() => undefined);
});
afterEach(() => end.abort());

function viewOf(spec: object, status: object = {}): View {
  const shadow = { metadata: { name: 'brs-n1' }, spec, status } as unknown as View['shadow'];
  return { shadow, nodeUid: 'u', version: '1.39.0', bootId: 'b' };
}
const until = (minutes: number): string => rfc3339(clock.now() + minutes * MINUTE);
const during = async (minutes: number): Promise<number> => {
  const before = asked;
  await clock.advance(minutes * MINUTE);
  return asked - before;
};

test('nothing is asked at rest, nor while the node is on its way', async () => {
  expect(await during(600)).toBe(0);
  view.set(viewOf({ state: 'RebootedIntoUpdate', compare_until: until(60) }));
  expect(await during(30)).toBe(0);
});

test('a look a minute for as long as the shadow wants it, one more, and then nothing', async () => {
  view.set(viewOf({ state: 'MonitoringUpdate', compare_until: until(60) }));
  expect(await during(59)).toBe(60);
  expect(await during(600)).toBe(1);
});

test('an apiserver that does not know of it is asked less often', async () => {
  answer = { kind: 'failed', message: '404' };
  view.set(viewOf({ state: 'Idle', compare_until: until(60) }));
  expect(await during(59)).toBe(12);
});

test('what an agent before has left is taken back', async () => {
  view.set(viewOf({ state: 'Idle', compare_until: until(-1) }, { workloads: { version: '1.39.0' } }));
  expect(await during(2)).toBeGreaterThan(0);
  view.set(viewOf({ state: 'Idle', compare_until: until(-1) }, { workloads: null }));
  await during(1);
  expect(await during(60)).toBe(0);
});
