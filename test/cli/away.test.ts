import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { status } from '../../runtime/cli/commands/status.ts';
import { why } from '../../runtime/cli/commands/why.ts';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import type { Answer } from '../../runtime/cli/command.ts';
import { LAST_REBOOT_ANNOTATION, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { deploy, requestOn } from './deployed.ts';

/** How long a step lasts by now, and how long it may or is usual to. */

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a', 'b');
  await deploy(stage, { MAX_CONCURRENT_UPDATE: '1', DRAIN_TIMEOUT_IN_SEC: '1800' });
});
afterEach(() => stage.end());

const linesOf = (answer: Answer): readonly string[] => answer.lines(PLAIN).map((line) => line.trim());
const row = async () =>
  (await readModel({ transport: stage.transport, namespace: NAMESPACE }, stage.clock.now())).nodes[0];

test.each([
  ['1.1.0', 'rebooting  1  a (for 1 min 17 s, usually 13 s)'],
  ['1.0.0', 'rebooting  1  a'],
])('a node is away since the reboot that is on record, to %s', async (version, line) => {
  const annotations = { [LAST_REBOOT_ANNOTATION]: '13' };
  await stage.shadows.patch(shadowName('b'), { metadata: { annotations } });
  await stage.askForReboot('a');
  const requested_at = rfc3339(stage.clock.now() - 77_000);
  await stage.report('a', { reboot: { boot_id: 'boot-1', version, requested_at } });
  const answer = await status.run(requestOn(stage));
  const awaySince = version === '1.1.0' ? requested_at : undefined;
  expect(answer.value).toMatchObject({ updating: [{ node: 'a', awaySince }], pace: { typicalRebootSeconds: 13 } });
  expect(linesOf(answer)).toContain(line);
  expect(await row()).toMatchObject({ doing: 'rebooting', awaySince: awaySince && Date.parse(awaySince) });
});

test.each([
  [[], 'draining   1  a (3 pods left, tries for 18 min more)'],
  [
    ['PodDisruptionBudget shop/web'],
    'draining   1  a (3 pods left, tries for 18 min more, blocked by PodDisruptionBudget shop/web)',
  ],
])('a drain says until when it tries, with %j in its way', async (blocked_by, line) => {
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.mark('a');
  const now = stage.clock.now();
  const drain = { started_at: rfc3339(now - 720_000), reported_at: rfc3339(now), pods_left: 3, blocked_by };
  await stage.report('a', { drain });
  const answer = await status.run(requestOn(stage));
  const drainEndsAt = rfc3339(now + 1_080_000);
  expect(answer.value).toMatchObject({ updating: [{ node: 'a', step: 'draining', drainEndsAt }] });
  expect(linesOf(answer)).toContain(line);
  expect(await row()).toMatchObject({ drain: { podsLeft: 3, endsAt: Date.parse(drainEndsAt) } });
  const said = linesOf(await why.run(requestOn(stage, ['a']))).find((text) => text.startsWith('a '));
  expect(said).toMatch(blocked_by.length > 0 ? /\(draining, for 12 min, for 18 min more at most\)$/ : /\(draining\)$/);
});
