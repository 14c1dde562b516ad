import { describe, expect, test } from '@jest/globals';
import { liveness } from './liveness.ts';
import { Story, timeAt } from './story.ts';

/** liveness: nodes that are not well, and what is said of them in the midst of the calm. */

const APISERVER = { by: 'apiserver-0' };

const updated = (story: Story, name: string): Story =>
  story.start(name).finish(name).shadow(name, { verdict: 'UpToDate' });

/** The shadow of n2, whose agent has not said anything in it. */
const UNREPORTED = {
  metadata: {
    name: 'brs-n2',
    uid: 'uid of brs-n2',
    resourceVersion: '1',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n2', uid: 'uid of n2' }],
  },
  spec: { state: 'Idle' },
};

/** The first node is updated; the other is not. */
const calm = (): Story => updated(new Story(liveness).fleet('n1', 'n2').calm(), 'n1');

const found = (story: Story): readonly string[] => story.end().breaches;

describe('a node that is not well says why', () => {
  const said = (story: Story, verdict: string): Story => story.shadow('n2', { verdict }).after(30);

  test('held', () => {
    const held = (verdict: string): Story => said(calm().node('n2', { held: true }), verdict);
    expect(held('WaitingForSlot').isMet).toBe(false);
    expect(found(held('WaitingForSlot'))).toEqual([
      'n2: it runs 1.0.0, is offered 1.1.0, and is said to be WaitingForSlot',
    ]);
    expect(held('Held').node('n1').isMet).toBe(true);
    expect(found(held('Held'))).toEqual([]);
    expect(found(said(calm(), 'Held'))).toHaveLength(1);
    expect(found(held('WaitingForSlot').node('n2', { held: false }))).toEqual([]);
  });

  test('held, in a policy that is paused: each of both is right', () => {
    const policy = { selector: { matchLabels: {} }, paused: true };
    const held = (paused: boolean): Story =>
      calm()
        .policy('p', { ...policy, paused })
        .node('n2', { held: true });
    expect(found(said(held(true), 'Paused'))).toEqual([]);
    expect(found(said(held(true), 'Held'))).toEqual([]);
    expect(found(said(held(false), 'Paused'))).toHaveLength(1);
  });

  test('not Ready', () => {
    const down = (): Story => calm().node('n2', { ready: false });
    expect(found(down().after(30))).toEqual(['n2: it is not Ready, and is said to be nothing']);
    expect(found(said(down(), 'NodeNotReady'))).toEqual([]);
    expect(found(said(down(), 'WaitingForSlot'))).toHaveLength(1);
    expect(found(said(down(), 'NotReturned'))).toHaveLength(1);
    // It has long been updated.
    expect(found(updated(calm(), 'n2').node('n2', { ready: false }).after(30))).toEqual([]);
    // An update that is under way may be in its reboot.
    const rebooting = (minutes: number): readonly string[] =>
      found(calm().start('n2').node('n2', { ready: false }).shadow('n2', { verdict: 'Updating' }).after(minutes));
    expect(rebooting(20)).toEqual([]);
    expect(rebooting(30)).toEqual(['n2: it is not Ready, and is said to be Updating']);
    expect(found(said(calm().start('n2').node('n2', { ready: false }), 'NotReturned'))).toEqual([]);
  });

  test('without its agent', () => {
    const silent = (): Story => calm().process('agent-n2', 'killed');
    expect(found(silent().shadow('n2', { verdict: 'WaitingForSlot' }).after(20))).toEqual([]);
    expect(found(said(silent(), 'WaitingForSlot'))).toEqual([
      'n2: it is without its agent, and is said to be WaitingForSlot',
    ]);
    expect(found(said(silent(), 'AgentSilent'))).toEqual([]);
    expect(found(said(calm(), 'AgentSilent'))).toHaveLength(1);
    expect(found(calm().process('agent-n1', 'killed').process('agent-n2', 'killed').after(30))).toHaveLength(2);
    // Somebody has begun to lead, and counts anew.
    expect(
      found(said(silent().after(30).lease('another', []), 'AgentSilent').shadow('n2', { verdict: '' })),
    ).toHaveLength(1);
    expect(found(silent().after(10).lease('another', []).after(20))).toEqual([]);
  });

  test.each<[string, (story: Story) => Story]>([
    ['registered', (story) => story],
    [
      'reported on',
      (story) => story.write('bottlerocketshadows', 'brs-n2', { object: UNREPORTED, sending: { by: 'agent-n2' } }),
    ],
  ])('never %s', (_what, begin) => {
    const missing = (): Story => begin(updated(new Story(liveness).fleet('n1').calm(), 'n1').node('n2'));
    const object = { metadata: { name: 'e', uid: 'e' }, reason: 'AgentMissing', involvedObject: { uid: 'uid of n2' } };
    const told = (uid: string): Story =>
      missing().write('events', 'e', {
        object: { ...object, involvedObject: { uid } },
        sending: { by: 'controller-0' },
      });
    expect(found(missing().after(20))).toEqual([]);
    expect(found(missing().after(30))).toEqual(['n2: it has no agent, and no Event tells of that']);
    expect(found(told('uid of n2').after(30))).toEqual([]);
    expect(found(told('uid of another').after(30))).toHaveLength(1);
  });
});

describe('DrainBlocked', () => {
  const drain = { drain: { started_at: timeAt(0) } };
  const drained = { state: 'RebootedIntoUpdate', verdict: 'DrainBlocked' };
  /** n2 is drained, which is refused; then its update is called off. */
  const calledOff = (): Story =>
    calm()
      .start('n2')
      .shadow('n2', { status: { current_state: 'StagedAndPerformedUpdate' } }, APISERVER)
      .shadow('n2', { ...drained, status: drain });

  test('a node at rest, of which nothing was ever drained', () => {
    expect(found(calm().shadow('n2', { verdict: 'DrainBlocked' }).after(20))).toEqual([
      'n2: it runs 1.0.0, is offered 1.1.0, and is said to be DrainBlocked',
    ]);
  });

  test('a node in update that nobody drains', () => {
    expect(found(calledOff().after(50))).toEqual([]);
    const staged = calm().start('n2').shadow('n2', { verdict: 'DrainBlocked' });
    expect(found(staged.after(5))).toEqual([]);
    expect(found(staged.after(20))).toEqual(['n2: it is said to be DrainBlocked, and nobody drains it']);
  });
});

describe('a fleet that waits for a person says so within minutes', () => {
  /** Something is told every five minutes. */
  const passes = (story: Story, minutes: number): Story => {
    for (let passed = 0; passed < minutes; passed += 5)
      story.after(5).host('n1', { kind: 'call', method: 'GET', path: '/', status: 200 });
    return story;
  };
  const lost = (): Story => calm().start('n2').node('n2', { ready: false });

  test('it is silent for hours, and then says it', () => {
    const told = passes(lost(), 240).shadow('n2', { verdict: 'NotReturned' });
    expect(found(told)).toEqual(['n2: it is not Ready, and is said to be nothing, for 10 minutes too long']);
    expect(found(passes(lost(), 20).shadow('n2', { verdict: 'NotReturned' }).after(240))).toEqual([]);
  });

  test('a healthy node says for long what is not so', () => {
    const wrong = (minutes: number): Story => passes(calm().shadow('n2', { verdict: 'Paused' }), minutes);
    expect(found(updated(wrong(30), 'n2'))).toHaveLength(1);
    expect(found(updated(wrong(15), 'n2'))).toEqual([]);
    // Nobody is told of it in between.
    expect(found(updated(passes(wrong(15).shadow('n2', { verdict: 'Updating' }).start('n2'), 15), 'n2'))).toEqual([]);
  });
});
