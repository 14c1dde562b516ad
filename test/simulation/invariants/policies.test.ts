import { describe, expect, test } from '@jest/globals';
import { dependencies, frozen, places, ruled, zones } from './policies.ts';
import { ALL, fleet, MANY, of, POOL } from './pools.ts';
import { windows } from './starts.ts';
import { Story, timeAt } from './story.ts';

const APISERVER = { by: 'apiserver-0' };
const DISTURBED = { state: 'RebootedIntoUpdate', version: '1.1.0' };

describe('ruled', () => {
  const two = (): Story => fleet(ruled).policy('one', ALL).policy('two', of('test'));

  test('nothing starts where two policies of the same priority select a node, or one that cannot be obeyed', () => {
    expect(two().after(2).start('t1').breaches).toEqual(['controller-0 started t1 although one, two all rule it']);
    expect(two().after(2).start('p1').breaches).toEqual([]);
    expect(two().start('t1').breaches).toEqual([]);
    const wrong = { ...of('test'), windows: [{ start: '61 * * * *', duration: '1h' }] };
    expect(fleet(ruled).policy('two', wrong).after(2).start('t1').breaches).toHaveLength(1);
    expect(fleet(ruled).policy('two', wrong).after(2).start('p1').breaches).toEqual([]);
  });

  test('the higher priority rules, whole', () => {
    const higher = fleet(ruled)
      .policy('one', { ...ALL, paused: true })
      .policy('two', { ...of('test'), priority: 1 });
    expect(higher.after(2).start('t1').breaches).toEqual([]);
    expect(higher.start('n1').breaches).toEqual(['controller-0 started n1 under the pause of one']);
  });

  test('policies that come after each other in a circle', () => {
    const circle = fleet(ruled).policy('one', { ...of('test'), after: ['two'] });
    circle.policy('two', { ...of('production'), after: ['one'] });
    expect(circle.after(2).start('t1').start('p1').breaches).toHaveLength(2);
  });

  test('what has been staged is not disturbed either', () => {
    const staged = fleet(ruled)
      .start('t1')
      .policy('one', { ...ALL, paused: true })
      .after(2);
    expect(staged.shadow('t1', DISTURBED).breaches).toHaveLength(1);
  });
});

describe('frozen', () => {
  const frozenBetween = (from: number, to: number): Story =>
    fleet(frozen).policy('one', { ...ALL, freezes: [{ from: timeAt(from), to: timeAt(to), reason: '' }] });

  test('a start in a freeze', () => {
    expect(frozenBetween(10, 20).after(15).start('t1').breaches).toEqual([
      'controller-0 started t1 in a freeze of one',
    ]);
    expect(frozenBetween(10, 20).after(5).start('t1').breaches).toEqual([]);
    expect(frozenBetween(10, 20).after(21).start('t1').breaches).toEqual([]);
  });

  test('one that was under way when it began, and one under another policy', () => {
    expect(frozenBetween(10, 20).after(15).start('t1', { sent: 360_000 }).breaches).toEqual([]);
    const other = frozenBetween(10, 20).policy('two', { ...of('test'), priority: 1 });
    expect(other.after(15).start('t1').breaches).toEqual([]);
  });
});

test('windows: those of a policy, in crontab, take the place of the schedule', () => {
  const night = { UPDATE_WINDOW_START: '02:00:00', UPDATE_WINDOW_STOP: '03:00:00' };
  const within = (spec: object, minutes: number): readonly string[] =>
    fleet(windows, night)
      .policy('one', { ...of('test'), ...spec })
      .after(minutes)
      .start('t1').breaches;
  const hourly = { windows: [{ start: '0 * * * *', duration: '20m' }] };
  expect(within(hourly, 70)).toEqual([]);
  expect(within(hourly, 90)).toEqual(['controller-0 started t1 outside of the window']);
  expect(within({ windows: [] }, 90)).toEqual([]);
  expect(within({ windows: null }, 90)).toHaveLength(1);
  const monday = { windows: [{ start: '0 1 * * mon', duration: '1h', timeZone: 'Europe/Berlin' }] };
  expect(within(monday, 30)).toEqual([]);
  expect(within(monday, 90)).toHaveLength(1);
});

describe('places', () => {
  const one = (spec: object = {}): Story =>
    fleet(places)
      .policy('one', { ...of('test'), maxConcurrent: 1, ...spec })
      .after(2);

  test('each policy has its own', () => {
    expect(one().start('t1').start('t2').breaches).toEqual([
      'controller-0 started t2 where 1 of one may be in update or unavailable: t1, t2',
    ]);
    expect(one().start('t1').start('p1').start('n1').breaches).toEqual([]);
    expect(one({ maxConcurrent: null }).start('t1').start('t2').breaches).toEqual([]);
  });

  test('shares are of the nodes that it rules', () => {
    expect(one({ maxConcurrent: '50%' }).start('t1').start('t2').breaches).toHaveLength(1);
    const all = fleet(places)
      .policy('one', { ...ALL, maxConcurrent: '50%' })
      .after(2);
    expect(all.start('t1').start('t2').breaches).toEqual([]);
    expect(all.start('p1').breaches).toHaveLength(1);
  });

  test('a node in its update that two policies claim by now takes a place of each', () => {
    const both = one().start('t1').policy('two', of('test'));
    both.policy('one', { nodeSelector: {}, maxConcurrent: 1 });
    expect(both.after(2).start('p1').breaches).toHaveLength(1);
  });

  test('a node that has come under the policy in the middle of its update takes a place, once that is known', () => {
    const moved = one()
      .start('p1')
      .node('p1', { labels: { [POOL]: 'test' } });
    expect(moved.start('t1').breaches).toEqual([]);
    expect(moved.after(2).start('t2').breaches).toHaveLength(1);
  });
});

test('zones: no more of them at once than may be, and nodes without the label are one', () => {
  const zone = (name: string): object => ({ 'topology.kubernetes.io/zone': name });
  const spread = (atOnce: number): Story => {
    const story = new Story(zones, { controller: MANY }).fleet('a1', 'a2', 'b1', 'x1');
    for (const name of ['a1', 'a2', 'b1']) story.node(name, { labels: { ...zone(name[0]!) } });
    return story.policy('one', { ...ALL, zones: { atOnce } }).after(2);
  };
  expect(spread(1).start('a1').start('a2').breaches).toEqual([]);
  expect(spread(1).start('a1').start('b1').breaches).toEqual([
    'controller-0 started b1 where 1 zones of one may be disturbed: a, b',
  ]);
  expect(spread(2).start('a1').start('b1').breaches).toEqual([]);
  expect(spread(1).start('a1').start('x1').breaches).toHaveLength(1);
});

describe('dependencies', () => {
  const chain = (): Story =>
    fleet(dependencies)
      .policy('test', of('test'))
      .policy('production', { ...of('production'), after: ['test'] })
      .after(2);

  test('nobody starts before those that he comes after are through', () => {
    expect(chain().start('p1').breaches).toEqual(['controller-0 started p1 on 1.1.0, which test has not completed']);
    expect(chain().start('t1').finish('t1').start('p1').breaches).toHaveLength(1);
    expect(chain().start('t1').finish('t1').start('t2').finish('t2').start('p1').breaches).toEqual([]);
    expect(chain().start('n1').breaches).toEqual([]);
  });

  test('a node whose machine dies as its update ends, or a moment before, has completed it for all that anybody knows', () => {
    const dying = (minutesBefore: number): Story =>
      chain()
        .node('t2', { held: true })
        .start('t1')
        .process('agent-t1', 'killed')
        .after(minutesBefore)
        .finish('t1')
        .node('t1', { ready: false })
        .start('p1');
    expect(dying(0).breaches).toEqual([]);
    expect(dying(2).breaches).toEqual(['controller-0 started p1 on 1.1.0, which test has not completed']);
  });

  test('held, unwell and failed nodes are not waited for, and what was complete stays so', () => {
    const held = chain().start('t1').finish('t1').node('t2', { held: true });
    expect(held.start('p1').node('t2', { held: false }).after(5).start('p2').breaches).toEqual([]);
    const after = (status: object): readonly string[] =>
      chain().start('t1').finish('t1').shadow('t2', { status }, APISERVER).start('p1').breaches;
    expect(after({ failed_versions: ['1.1.0'], crash_count: 1 })).toEqual([]);
    expect(after({ failed_versions: ['1.0.5'], crash_count: 1 })).toEqual([]);
    expect(after({ crash_count: 0 })).toHaveLength(1);
  });

  test('a release that is halted there is not complete there, and its failure is no completion for later', () => {
    const failed = { status: { failed_versions: ['1.1.0'], crash_count: 1 } };
    const failing = (maxFailed: number): readonly string[] => {
      const story = chain().policy('test', { ...of('test'), maxFailed });
      return story.after(2).start('t1').finish('t1').shadow('t2', failed, APISERVER).start('p1').breaches;
    };
    expect(failing(1)).toEqual(['controller-0 started p1 on 1.1.0, which test has not completed']);
    expect(failing(2)).toEqual([]);
  });

  test('a policy is waited for whose nodes another claims as well, unless it was through before', () => {
    const rival = (story: Story): Story => story.policy('rival', of('test'));
    expect([rival(chain()).after(2), rival(chain())].map((one) => one.start('p1').breaches.length)).toEqual([1, 0]);
    const through = chain().start('t1').finish('t1').start('t2').finish('t2');
    expect(rival(through).after(2).start('p1').breaches).toEqual([]);
  });

  test('a policy that is not there is waited for, and one without nodes is not', () => {
    const unknown = fleet(dependencies).policy('production', { ...of('production'), after: ['nobody'] });
    expect(unknown.after(2).start('p1').breaches).toHaveLength(1);
    const empty = fleet(dependencies)
      .policy('nobody', of('none'))
      .policy('all', { ...ALL, after: ['nobody'] });
    expect(empty.after(2).start('p1').breaches).toEqual([]);
  });
});
