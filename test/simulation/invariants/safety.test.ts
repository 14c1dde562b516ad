import { describe, expect, test } from '@jest/globals';
import { concurrency, outOfService } from './budget.ts';
import { administratorsCordons, nothingLeft } from './cordons.ts';
import { conversion } from './authority.ts';
import { MARKED, Story } from './story.ts';

const APISERVER = { by: 'apiserver-0' };
const PERSON = { by: 'person' };

describe('concurrency', () => {
  const two = (): Story => new Story(concurrency).fleet('n1', 'n2').start('n1');

  test('a second node that starts before the first is at rest', () => {
    expect(two().start('n2').breaches).toEqual(['2 nodes in update where 1 may be: n1, n2']);
    expect(two().finish('n1').start('n2').breaches).toEqual([]);
  });

  test('a slot that is given back is no end, but of a node without an agent', () => {
    expect(two().slots().start('n2').breaches).toHaveLength(1);
    expect(two().process('agent-n1', 'killed').slots().start('n2').breaches).toEqual([]);
  });

  test('so is it where the agent begins anew once the shadow is gone, and not where it has been there', () => {
    const crashed = (): Story => two().process('agent-n1', 'killed');
    const begins = (story: Story): Story => story.process('agent-n1', 'starts');
    expect(begins(crashed().shadowGone('n1', 'person')).slots().start('n2').breaches).toEqual([]);
    expect(begins(crashed()).shadowGone('n1', 'person').slots().start('n2').breaches).toHaveLength(1);
  });

  test('marks take a place, and a node that is gone takes none', () => {
    const marked = two().finish('n1').node('n1', { cordoned: true, marks: MARKED }, APISERVER);
    expect(marked.start('n2').breaches).toHaveLength(1);
    expect(two().nodeGone('n1').start('n2').breaches).toEqual([]);
  });

  test('a share is that of the nodes that are managed, or were lately', () => {
    const half = new Story(concurrency, { controller: { MAX_CONCURRENT_UPDATE: '50%' } }).fleet('n1', 'n2', 'n3', 'n4');
    half.start('n1').node('n4', { managed: false }).start('n2');
    expect(half.breaches).toEqual([]);
    expect(half.after(30).shadow('n1', { version: '1.2.0' }).breaches).toHaveLength(1);
  });
});

describe('out-of-service', () => {
  test('a node that is cordoned while another is down for us', () => {
    const story = new Story(outOfService).fleet('n1', 'n2').host('n1', { kind: 'down', asked: true });
    expect(story.breaches).toEqual([]);
    expect(story.node('n2', { cordoned: true, marks: MARKED }, APISERVER).breaches).toHaveLength(1);
  });

  test('what an administrator cordons, or what dies, is none of it', () => {
    const story = new Story(outOfService).fleet('n1', 'n2').host('n1', { kind: 'down', asked: false });
    story.node('n2', { cordoned: true }, PERSON).host('n2', { kind: 'down', asked: true });
    expect(story.breaches).toEqual([]);
  });
});

test('out-of-service: a host that is down counts for as long as its update lasts, or it may yet return from it', () => {
  const down = (): Story => {
    const story = new Story(outOfService).fleet('n1', 'n2').start('n1');
    return story.host('n1', { kind: 'down', asked: true }).process('agent-n1', 'killed');
  };
  const released = (): Story => down().node('n1', { managed: false }).shadowGone('n1', 'controller-0').slots();
  const drained = (story: Story): readonly string[] =>
    story.node('n2', { cordoned: true, marks: MARKED }, APISERVER).breaches;
  expect(drained(down().after(60))).toHaveLength(1);
  expect(drained(released().after(13))).toHaveLength(1);
  expect(drained(released().after(15))).toEqual([]);
});

test('out-of-service: a host goes down for a request of which a person has deleted the only record', () => {
  const reboot = { boot_id: 'boot of n1', version: '1.1.0', requested_at: '2026-03-02T00:00:00Z' };
  const story = (by: string): Story => {
    const asked = new Story(outOfService).fleet('n1', 'n2').start('n1').shadow('n1', { status: { reboot } }, APISERVER);
    const down = asked.shadowGone('n1', by).host('n1', { kind: 'down', asked: true });
    return down.node('n2', { cordoned: true, marks: MARKED }, APISERVER);
  };
  expect(story('person').breaches).toEqual([]);
  expect(story('controller-0').breaches).toHaveLength(1);
});

describe('out-of-service, where an older operator had more nodes under way than may be', () => {
  const inherited = (): Story => {
    const story = new Story(outOfService).fleet('n1', 'n2', 'n3');
    for (const name of ['n1', 'n2']) story.shadow(name, { state: 'RebootedIntoUpdate' }, { by: 'older-operator' });
    return story;
  };

  test('they go on', () => {
    const story = inherited().host('n1', { kind: 'down', asked: true }).host('n2', { kind: 'down', asked: true });
    expect(story.breaches).toEqual([]);
  });

  test('and count as any other once they are at rest', () => {
    const story = inherited();
    for (const name of ['n1', 'n2']) story.shadow(name, { state: 'Idle' });
    story.node('n1', { cordoned: true, marks: MARKED }, APISERVER);
    expect(story.breaches).toEqual([]);
    expect(story.host('n2', { kind: 'down', asked: true }).breaches).toHaveLength(1);
  });
});

describe('administrators-cordons', () => {
  const cordoned = (): Story => new Story(administratorsCordons).fleet('n1').node('n1', { cordoned: true }, PERSON);
  const ours = (): Story =>
    new Story(administratorsCordons).fleet('n1').node('n1', { cordoned: true, marks: MARKED }, APISERVER);

  test('a cordon of an administrator that the operator takes away', () => {
    expect(cordoned().node('n1', { cordoned: false }, APISERVER).breaches).toEqual([
      'apiserver-0 took the cordon of person from n1',
    ]);
    expect(cordoned().node('n1', { cordoned: false }, PERSON).breaches).toEqual([]);
    expect(ours().node('n1', { cordoned: false, marks: null }, APISERVER).breaches).toEqual([]);
  });

  test('U2: one who uncordons and cordons again at once cannot be told from the operator', () => {
    const again = ours().node('n1', { cordoned: false }, PERSON).after(1).node('n1', { cordoned: true }, PERSON);
    expect(again.node('n1', { cordoned: false, marks: null }, APISERVER).breaches).toEqual([]);
    const later = ours().node('n1', { cordoned: false }, PERSON).after(60).node('n1', { cordoned: true }, PERSON);
    expect(later.node('n1', { cordoned: false, marks: null }, APISERVER).breaches).toHaveLength(1);
  });

  test('U2: nor one who cordons again before the operator could write that the first is no more', () => {
    const refusal = { by: 'controller-0', verb: 'patch', resource: 'nodes', code: 403, isVain: false };
    const lifted = (): Story => ours().node('n1', { cordoned: false }, PERSON).after(60);
    const refused = (name: string): Story => lifted().tell({ kind: 'request', ...refusal, name });
    const stories = [refused('n1'), refused('n1').after(60), refused('n2'), refused('n1').node('n1', {}, APISERVER)];
    const released = stories.map((story) =>
      story.node('n1', { cordoned: true }, PERSON).node('n1', { cordoned: false, marks: null }, APISERVER),
    );
    expect(released.map(({ breaches }) => breaches.length)).toEqual([0, 1, 1, 1]);
  });

  test('U3: the cordon of a node that no apiserver of ours has marked, once it runs the version', () => {
    const older = cordoned()
      .shadow('n1', { state: 'RebootedIntoUpdate', version: '1.1.0' })
      .node('n1', { version: '1.1.0' });
    expect(older.node('n1', { cordoned: false }, APISERVER).breaches).toEqual([]);
  });

  test('a node that bears the hold annotation stays cordoned', () => {
    const held = ours().node('n1', { held: true }, PERSON);
    expect(held.node('n1', { cordoned: false, marks: null }, APISERVER).breaches).toHaveLength(1);
  });
});

describe('nothing-left', () => {
  const ours = (): Story => new Story(nothingLeft).fleet('n1').node('n1', { cordoned: true, marks: MARKED }, APISERVER);

  test('a release that leaves the cordon', () => {
    expect(ours().node('n1', { marks: null }, APISERVER).breaches).toEqual([
      'apiserver-0 took the marks from n1 and left the cordon',
    ]);
    expect(ours().node('n1', { marks: null, cordoned: false }, APISERVER).breaches).toEqual([]);
  });

  test('a cordon of an administrator stays, as does that of a node which is held', () => {
    const his = new Story(nothingLeft).fleet('n1').node('n1', { cordoned: true }, PERSON);
    his.node('n1', { marks: { ...MARKED, owns: [] } }, APISERVER).node('n1', { marks: null }, APISERVER);
    expect(his.breaches).toEqual([]);
    const held = ours().node('n1', { held: true }, PERSON).node('n1', { marks: null }, APISERVER);
    const later = held.node('n1', { held: false }, PERSON).node('n1', { marks: { ...MARKED, owns: [] } }, APISERVER);
    expect(later.node('n1', { marks: null }, APISERVER).breaches).toEqual([]);
  });
});

test('conversion: what a shadow is as v1 is never stored', () => {
  const stored = (annotations: object): readonly string[] => {
    const metadata = { name: 'brs-n1', uid: 'u', resourceVersion: '1', annotations };
    const object = { metadata, spec: { state: 'Idle' } };
    return new Story(conversion).write('bottlerocketshadows', 'brs-n1', { object, sending: PERSON }).breaches;
  };
  expect(stored({ 'brupop.bottlerocket.aws/conversion-data': '{}' })).toHaveLength(1);
  expect(stored({ 'brupop.bottlerocket.aws/bumped': '1' })).toEqual([]);
});
