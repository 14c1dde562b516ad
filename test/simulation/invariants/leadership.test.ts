import { describe, expect, test } from '@jest/globals';
import { leadership } from './leadership.ts';
import { Story } from './story.ts';

const STAGED = { state: 'StagedAndPerformedUpdate', version: '1.1.0' };
const DISTURBED = { state: 'RebootedIntoUpdate', version: '1.1.0' };
const SECONDS = 1 / 60;
const OTHER = { by: 'controller-1' };

describe('leadership', () => {
  /** The Lease is made by whoever leads first. */
  const led = (): Story => new Story(leadership).fleet('n1').lease('me', []);
  /** Another one takes over when the first has not renewed it for a while. */
  const followed = (): Story => led().after(0.3).lease('other', [], OTHER);

  /** Nine seconds ago, and said so or not: a swap of the slots is no renewal. */
  const wrote = (renewTime: string): Story => {
    const object = { metadata: { name: 'brupop-controller' }, spec: { holderIdentity: 'me', renewTime } };
    const story = new Story(leadership).lease('me', []).after(9 * SECONDS);
    return story.write('leases', 'brupop-controller', { object, sending: { by: 'controller-0' } }).after(9 * SECONDS);
  };

  test('whoever is not the holder changes no slots', () => {
    expect(followed().lease('other', ['n1']).breaches).toEqual([
      'controller-0 changed the slots under the Lease of other',
    ]);
    expect(followed().lease('other', ['n1'], OTHER).breaches).toEqual([]);
    expect(led().lease('me', ['n1']).breaches).toEqual([]);
  });

  test('nor does one that never led, under the first that did', () => {
    expect(led().lease('me', ['n1'], OTHER).breaches).toEqual(['controller-1 changed the slots under the Lease of me']);
    expect(led().lease('me', [], OTHER).breaches).toEqual([
      'controller-1 holds the Lease under the name of controller-0',
    ]);
    const stolen = led().lease('somebody else', [], { by: 'person' });
    expect(stolen.lease('somebody else', ['n1'], OTHER).breaches).toEqual([
      'controller-1 changed the slots under the Lease of somebody else',
    ]);
  });

  test('nor whoever makes the Lease', () => {
    expect(new Story(leadership).lease('me', ['n1']).breaches).toHaveLength(1);
  });

  test('a controller that never led writes nothing', () => {
    expect(led().shadow('n1', STAGED, OTHER).breaches).toEqual([
      'controller-1 wrote bottlerocketshadows brs-n1 and did not lead',
    ]);
    expect(led().shadow('n1', { verdict: 'UpToDate' }, OTHER).breaches).toHaveLength(1);
    expect(led().shadowGone('n1', 'controller-1').breaches).toEqual([
      'controller-1 deleted bottlerocketshadows brs-n1 and did not lead',
    ]);
    expect(led().node('n1', { marks: null, released: 'r' }, OTHER).breaches).toHaveLength(1);
  });

  test('the leader writes all of that', () => {
    const story = led()
      .shadow('n1', STAGED)
      .shadow('n1', { verdict: 'UpToDate' })
      .node('n1', {}, { by: 'controller-0' });
    expect(story.shadowGone('n1', 'controller-0').breaches).toEqual([]);
  });

  test('nor does one whose term is over, renewed or followed', () => {
    expect(
      led()
        .after(20 * SECONDS)
        .shadow('n1', STAGED).breaches,
    ).toHaveLength(1);
    expect(wrote('1').shadow('n1', STAGED).breaches).toEqual([]);
    expect(wrote('0').shadow('n1', STAGED).breaches).toHaveLength(1);
    expect(followed().shadow('n1', STAGED).breaches).toHaveLength(1);
    expect(followed().shadow('n1', STAGED, OTHER).breaches).toEqual([]);
  });

  test('what was sent in a term may land after it, and a stolen Lease is no end of it', () => {
    expect(followed().shadow('n1', STAGED, { sent: 15_000 }).breaches).toEqual([]);
    expect(led().lease('somebody else', [], { by: 'person' }).shadow('n1', STAGED).breaches).toEqual([]);
  });

  test('one that has given the Lease back leads no more', () => {
    expect(led().lease('', []).shadow('n1', STAGED).breaches).toHaveLength(1);
    expect(led().lease('', []).lease('me', []).shadow('n1', STAGED).breaches).toEqual([]);
  });

  test('one that stood still may send what it was about to', () => {
    const freeze = { kind: 'fault', id: 1, name: 'freeze', about: 'controller-0' } as const;
    const stood = (before: number): Story =>
      led()
        .after(before * SECONDS)
        .tell({ ...freeze, phase: 'begins' })
        .after(5)
        .tell({ ...freeze, phase: 'ends' });
    expect(stood(5).shadow('n1', STAGED).breaches).toEqual([]);
    expect(
      stood(5)
        .after(2 * SECONDS)
        .shadow('n1', STAGED).breaches,
    ).toHaveLength(1);
    expect(stood(20).shadow('n1', STAGED).breaches).toHaveLength(1);
  });

  test('a process that begins anew leads under another name, and by no term of before', () => {
    const restarted = (): Story => led().process('controller-0', 'killed').process('controller-0', 'starts').after(0.1);
    expect(restarted().lease('me', []).breaches).toEqual([
      'controller-0 holds the Lease under the name of an earlier process',
    ]);
    expect(restarted().lease('me', [], { sent: 60_000 }).breaches).toEqual([]);
    expect(restarted().lease('me again', []).breaches).toEqual([]);
    expect(restarted().shadow('n1', STAGED).breaches).toHaveLength(1);
    expect(restarted().shadow('n1', STAGED, { sent: 6_002 }).breaches).toEqual([]);
  });

  test('a takeover keeps the slots', () => {
    expect(led().lease('me', ['n1']).lease('other', [], OTHER).breaches).toHaveLength(1);
  });

  test('spec is for controllers alone', () => {
    expect(led().shadow('n1', DISTURBED, { by: 'apiserver-0' }).breaches).toEqual([
      'apiserver-0 wrote the spec of brs-n1',
    ]);
    expect(led().shadow('n1', { status: { crash_count: 1 } }, { by: 'apiserver-0' }).breaches).toEqual([]);
  });
});
