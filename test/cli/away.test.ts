import { expect, test } from '@jest/globals';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { forecastFrom } from '../../runtime/cli/forecast/forecast.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { statusLines } from '../../runtime/cli/status/lines.ts';
import { membersOf } from '../../runtime/cli/status/members.ts';
import { statusOf } from '../../runtime/cli/status/status.ts';
import { Stage } from '../controller/stage.ts';
import { deploy, seenOn } from './deployed.ts';

test.each([
  ['1.1.0', 'rebooting  1  a (for 1 min 17 s)'],
  ['1.0.0', 'rebooting  1  a'],
])('how long a node is away counts from the reboot that is on record, to %s', async (version, line) => {
  const stage = await Stage.with('a');
  await deploy(stage);
  const requested_at = rfc3339(stage.clock.now() - 77_000);
  await stage.report('a', { reboot: { boot_id: 'before', version, requested_at } });
  const seen = await seenOn(stage);
  const members = membersOf(seen).map((member) => Object.assign({}, member, { step: 'rebooting' as const }));
  const status = statusOf(seen, forecastFrom(seen), members);
  const since = version === '1.1.0' ? Date.parse(requested_at) : undefined;
  expect(status.updating).toEqual([expect.objectContaining({ node: 'a', awaySince: since })]);
  expect(statusLines(status, PLAIN).map((text) => text.trim())).toContain(line);
  await stage.end();
});
