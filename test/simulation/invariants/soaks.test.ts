import { expect, test } from '@jest/globals';
import { soaks } from './soaks.ts';
import { Story, timeAt } from './story.ts';

const AGENT = { by: 'apiserver-0' };
const MONITORED = { current_state: 'MonitoringUpdate', current_version: '1.1.0' };
const AT_REST = { current_state: 'Idle', current_version: '1.1.0' };
const UNWELL = 'n1 is said to be unwell since its update to 1.1.0, and';

const monitored = (given?: ConstructorParameters<typeof Story>[1]): Story =>
  new Story(soaks, given)
    .fleet('n1')
    .start('n1')
    .shadow('n1', { state: 'MonitoringUpdate' })
    .shadow('n1', { status: MONITORED }, AGENT);

const metadata = {
  name: 'brs-n1',
  uid: 'uid of brs-n1',
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'uid of n1' }],
  annotations: { 'brupop.bottlerocket.aws/last-update-finished': timeAt(1) },
};

/** At rest, once its update is over. */
const finished = (): Story =>
  monitored()
    .write('bottlerocketshadows', 'brs-n1', {
      object: { metadata, spec: { state: 'Idle' }, status: MONITORED },
      sending: { by: 'controller-0' },
    })
    .shadow('n1', { state: 'Idle', version: null, status: AT_REST }, AGENT);

const goes = (story: Story, ready: boolean): Story => story.node('n1', { ready });
const said = (story: Story): readonly string[] => story.shadow('n1', { verdict: 'SoakFailed' }).breaches;

test('a node that is monitored has the whole time to become Ready, from when both are so', () => {
  expect(said(goes(monitored(), false).after(16))).toEqual([]);
  expect(said(goes(monitored(), false).after(14))).toEqual([`${UNWELL} is so since 00:00:00.009 alone`]);
  const down = goes(new Story(soaks).fleet('n1').start('n1'), false).after(14);
  const late = down.shadow('n1', { state: 'MonitoringUpdate' }).shadow('n1', { status: MONITORED }, AGENT);
  expect(said(late.after(14))).toHaveLength(1);
  const given = { controller: { MONITORING_TIMEOUT_IN_SEC: '1800' } };
  expect(said(goes(monitored(given), false).after(16))).toHaveLength(1);
});

test('a node that is Ready is unwell with nothing, and who has just been told of it need not know', () => {
  expect(said(monitored().after(60))).toEqual([`${UNWELL} was not`]);
  const back = (): Story => goes(goes(monitored(), false).after(20), true);
  expect(said(back().after(2))).toHaveLength(1);
  expect(said(back().after(0.5))).toEqual([]);
  // Another outage is not the same.
  expect(said(goes(back().after(2), false).after(10))).toHaveLength(1);
});

test('one that has finished fails its soak yet where it goes not Ready within an hour', () => {
  expect(said(goes(finished().after(50), false).after(16))).toEqual([]);
  expect(said(goes(finished().after(50), false).after(14))).toHaveLength(1);
  expect(said(goes(finished().after(70), false).after(16))).toHaveLength(1);
});

test('an update that there was not, or is another', () => {
  const never = goes(new Story(soaks).fleet('n1'), false).after(60);
  expect(said(never)).toEqual(['n1 is said to be unwell since its update to 1.0.0, and there was none']);
  const other = goes(finished().shadow('n1', { status: { current_version: '1.2.0' } }, AGENT), false);
  expect(said(other.after(16))).toHaveLength(1);
  const next = goes(finished().after(10).start('n1', { version: '1.2.0' }), false);
  expect(said(next.after(16))).toHaveLength(1);
});

test('one that somebody has ended, and that has led to its version all the same', () => {
  const ended = (): Story => new Story(soaks).fleet('n1').start('n1').shadow('n1', { state: 'Idle' }, { by: 'person' });
  const led = (): Story => ended().shadow('n1', { status: AT_REST }, AGENT).shadow('n1', { version: null });
  expect(said(goes(led(), false).after(16))).toEqual([]);
  expect(said(goes(led(), false).after(14))).toHaveLength(1);
  expect(said(goes(ended(), false).after(16))).toHaveLength(1);
});

test('one that has led to its version, and which its agent takes for failed', () => {
  const failed = (version: string): Story =>
    new Story(soaks)
      .fleet('n1')
      .start('n1')
      .shadow('n1', { status: { current_state: 'ErrorReset', current_version: version, crash_count: 1 } }, AGENT)
      .shadow('n1', { state: 'Idle', version: null, status: { current_state: 'Idle' } }, AGENT);
  expect(said(goes(failed('1.1.0'), false).after(16))).toEqual([]);
  expect(said(goes(failed('1.0.0'), false).after(16))).toHaveLength(1);
});

test('what another controller takes over stays for as long as it is so', () => {
  const verdict = (): Story => goes(finished(), false).after(16).shadow('n1', { verdict: 'SoakFailed' });
  const again = { by: 'controller-1' };
  expect(verdict().shadow('n1', { verdict: 'SoakFailed', lastSeconds: 60 }, again).breaches).toEqual([]);
  const withdrawn = (minutes: number): Story =>
    goes(goes(verdict(), true).shadow('n1', { verdict: 'UpToDate' }), false).after(minutes);
  expect(withdrawn(0.5).shadow('n1', { verdict: 'SoakFailed' }, again).breaches).toEqual([]);
  expect(withdrawn(2).shadow('n1', { verdict: 'SoakFailed' }, again).breaches).toHaveLength(1);
});

test('a clock that jumps ends the time earlier', () => {
  const jumps = { kind: 'fault', id: 1, name: 'clock', about: 'controller-0, off by 120 s', phase: 'begins' } as const;
  const story = (minutes: number): Story => goes(monitored().tell(jumps), false).after(minutes);
  expect(said(story(12))).toEqual([]);
  expect(said(story(10))).toHaveLength(1);
});
