import { expect, test } from '@jest/globals';
import { calledOff } from './specs.ts';
import { MARKED, Story } from './story.ts';

const BY = { by: 'apiserver-0' } as const;
const ASKED = { reboot: { boot_id: 'a', version: '1.1.0', requested_at: '2026-03-02T00:00:00Z' } };
const wanted = (): Story =>
  new Story(calledOff)
    .fleet('n1')
    .node('n1', { boot: 'a' })
    .start('n1')
    .shadow('n1', { state: 'RebootedIntoUpdate', version: '1.1.0' })
    .after(5);
const idle = { state: 'Idle' };

test('called-off: an update whose node is not disturbed, or that has failed', () => {
  expect(wanted().shadow('n1', idle).breaches).toEqual([]);
  const failed = wanted().node('n1', { marks: MARKED }, BY).after(5);
  expect(failed.shadow('n1', { status: { current_state: 'ErrorReset' } }, BY).shadow('n1', idle).breaches).toEqual([]);
});

test('called-off: one whose node bears marks, or was asked to reboot, while its agent runs', () => {
  expect(wanted().node('n1', { marks: MARKED }, BY).after(5).shadow('n1', idle).breaches).toEqual([
    'controller-0 ended the update of n1, which bears marks, and whose agent runs',
  ]);
  const earlier = new Story(calledOff).fleet('n1').node('n1', { marks: MARKED }, BY).start('n1').after(5);
  expect(earlier.shadow('n1', idle).breaches).toEqual([]);
  expect(wanted().shadow('n1', { status: ASKED }, BY).shadow('n1', idle).breaches).toHaveLength(1);
});

test('called-off: of a node without its agent, unless it is back from its reboot', () => {
  const alone = (): Story =>
    wanted()
      .node('n1', { marks: MARKED }, BY)
      .shadow('n1', { status: ASKED }, BY)
      .process('agent-n1', 'killed')
      .after(5);
  expect(alone().shadow('n1', idle).breaches).toEqual([]);
  expect(alone().node('n1', { boot: 'b' }).after(5).shadow('n1', idle).breaches).toEqual([
    'controller-0 ended the update of n1, which is back from its reboot',
  ]);
});
