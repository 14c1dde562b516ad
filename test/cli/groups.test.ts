import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { forecastFrom } from '../../runtime/cli/forecast/forecast.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { statusLines } from '../../runtime/cli/status/lines.ts';
import { statusOf } from '../../runtime/cli/status/status.ts';
import { HOLD_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { deploy, seenOn } from './deployed.ts';

/** Nodes of one verdict, each with what it says itself. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b', 'c', 'd', 'e', 'f');
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '* * 2 * * * *' });
});
afterEach(() => stage.end());

/** @param people by node */
async function heldBy(people: Readonly<Record<string, string>>) {
  for (const [name, by] of Object.entries(people))
    await stage.patchNode(name, { metadata: { annotations: { [HOLD_ANNOTATION]: by } } });
  const seen = await seenOn(stage);
  const status = statusOf(seen, forecastFrom(seen));
  const held = status.waiting.filter(({ reason }) => reason === 'Held');
  return {
    held: held.map(({ nodes, message }) => `${nodes.join(', ')}: ${message}`),
    text: statusLines(status, PLAIN).join('\n'),
  };
}

test('those with one message are named together, and no message stands for another', async () => {
  const { held, text } = await heldBy({ a: 'ann', b: 'bob', c: 'ann' });
  expect(held).toEqual(['a, c: held by ann', 'b: held by bob']);
  expect(text).toMatch(/^ +2 +a, c +Held: held by ann$/m);
  expect(text).toMatch(/^ +1 +b +Held: held by bob$/m);
});

test('of more than five messages the last ones are told together, as different ones', async () => {
  const { held } = await heldBy({ a: 'ann', b: 'bob', c: 'cid', d: 'dan', e: 'eve', f: 'fay' });
  expect(held.slice(0, -1)).toEqual(['a: held by ann', 'b: held by bob', 'c: held by cid', 'd: held by dan']);
  expect(held.at(-1)).toBe('e, f: each for something else, as kubectl brupop why says');
});
