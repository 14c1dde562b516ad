import { expect, test } from '@jest/globals';
import { ConditionWriter } from '../../runtime/controller/writing/condition-writer.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';

test('a condition is written once its shadow has been left alone for a second, whatever the plans say meanwhile', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const written: (string | undefined)[] = [];
  const writer = new ConditionWriter({
    shadows: {
      patchStatus: (_name, patch) => {
        written.push((patch as { metadata: { resourceVersion: string } }).metadata.resourceVersion);
        return Promise.reject(new Error('not of interest'));
      },
    },
    expectations: { written: () => undefined } as never,
    clock,
    random: () => 0.5,
    logger: silentLogger,
  });
  const ended = writer.run(stop.signal);
  const plan = (resourceVersion: string): void =>
    writer.replace([{ kind: 'set-condition', shadow: 'brs-a', resourceVersion, conditions: [] }]);
  plan('1');
  await clock.advance(600);
  plan('2');
  await clock.advance(900);
  expect(written).toEqual([]);
  plan('2');
  await clock.advance(100);
  expect(written).toEqual(['2']);
  stop.abort();
  await clock.advance(0);
  await ended;
});
