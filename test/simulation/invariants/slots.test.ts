import { describe, expect, test } from '@jest/globals';
import type { RequestEntry } from '../types.ts';
import { givenBack, slots } from './slots.ts';
import { MARKED, Story } from './story.ts';

const START = { state: 'StagedAndPerformedUpdate', version: '1.1.0' };
const CONFLICT = {
  kind: 'request',
  by: 'controller-0',
  verb: 'patch',
  resource: 'bottlerocketshadows',
  name: 'brs-n1',
  code: 409,
  isVain: false,
} as const satisfies RequestEntry;

describe('slots', () => {
  test('a start of a node that the Lease does not name', () => {
    expect(new Story(slots).fleet('n1', 'n2').slots('n2').shadow('n1', START).breaches).toHaveLength(1);
    expect(new Story(slots).fleet('n1', 'n2').start('n1').breaches).toEqual([]);
  });

  test('one by a leader that has been followed, and whose slot the new one has', () => {
    const story = new Story(slots).fleet('n1').slots('n1').lease('other', ['n1'], { by: 'controller-1' });
    expect(story.shadow('n1', START, { sent: 20_000 }).breaches).toEqual([]);
  });

  test('one on a shadow that has changed since its slot was taken', () => {
    const changed = (): Story => new Story(slots).fleet('n1').slots('n1').shadow('n1', { verdict: 'WaitingForSlot' });
    expect(changed().shadow('n1', START).breaches).toEqual([
      'controller-0 started n1, whose shadow had changed since its slot was taken',
    ]);
    expect(changed().start('n1').breaches).toEqual([]);
  });

  test('one after a conflict, on the slot that was taken before', () => {
    const refused = (): Story => new Story(slots).fleet('n1').slots('n1').tell(CONFLICT);
    expect(refused().shadow('n1', START).breaches).toEqual([
      'controller-0 started n1 after a conflict, and took no slot anew',
    ]);
    expect(refused().start('n1').breaches).toEqual([]);
    expect(refused().after(1).shadow('n1', START, { sent: 90_000 }).breaches).toEqual([]);
  });

  test('more slots than may be; those that were too many stay', () => {
    expect(new Story(slots).fleet('n1', 'n2').slots('n1', 'n2').breaches).toEqual([
      'controller-0 took a slot, and 2 are taken where 1 may be',
    ]);
    expect(new Story(slots).fleet('n1').slots('n1').slots('n1').breaches).toEqual([]);
  });
});

describe('given-back', () => {
  const led = (): Story => new Story(givenBack).fleet('n1').lease('nobody', []).lease('me', []).start('n1');
  const ended = (): Story =>
    led()
      .shadow('n1', { status: { current_state: 'MonitoringUpdate' } }, { by: 'apiserver-0' })
      .shadow('n1', { state: 'Idle', version: null })
      .shadow('n1', { status: { current_state: 'Idle' } }, { by: 'apiserver-0' });
  const touch = (story: Story): Story => story.node('n1', { released: '1' }, { by: 'controller-0' });

  test('a slot of a node at rest whose Node was touched, or which is gone', () => {
    expect(touch(ended()).slots().breaches).toEqual([]);
    expect(led().nodeGone('n1').slots().breaches).toEqual([]);
  });

  test('one whose Node was not touched, or bears marks', () => {
    expect(ended().slots().breaches).toEqual(['controller-0 gave back the slot of n1, and had not touched its Node']);
    const marked = touch(ended()).node('n1', { marks: MARKED }, { by: 'apiserver-0' });
    expect(marked.slots().breaches).toEqual(['controller-0 gave back the slot of n1, which bears marks']);
  });

  test('one of an update that is on, or of a node without a shadow whose agent runs', () => {
    expect(touch(led().after(5)).slots().breaches).toEqual([
      'controller-0 gave back the slot of n1, whose agent runs, and whose update is on',
    ]);
    const bare = (): Story => touch(led().after(5).shadowGone('n1', 'person'));
    expect(bare().slots().breaches).toHaveLength(1);
    expect(bare().process('agent-n1', 'killed').slots().breaches).toEqual([]);
  });

  test('one of a node that is back without its agent, whose record of the reboot somebody has just taken away', () => {
    const reboot = { boot_id: 'before', version: '1.1.0', requested_at: '2026-03-02T00:00:00Z' };
    const back = touch(
      led()
        .shadow('n1', { state: 'RebootedIntoUpdate', status: { reboot } })
        .process('agent-n1', 'killed')
        .node('n1', { boot: 'after' }),
    );
    const edited = back.shadow('n1', { status: { reboot: null } }, { by: 'person' });
    expect(edited.slots().breaches).toEqual([]);
    expect(edited.lease('me', ['n1']).after(2).slots().breaches).toHaveLength(1);
  });

  test('one of a node at rest whose shadow was deleted just then, and not long before', () => {
    const deleted = (): Story => touch(ended().after(5).shadowGone('n1', 'person'));
    expect(deleted().slots().breaches).toEqual([]);
    expect(deleted().after(2).slots().breaches).toHaveLength(1);
    const unstarted = new Story(givenBack).fleet('n1').lease('nobody', []).lease('me', ['n1']).after(5);
    expect(touch(unstarted.shadowGone('n1', 'person')).slots().breaches).toHaveLength(1);
    const refused = new Story(givenBack).fleet('n1').lease('nobody', []).lease('me', ['n1']).after(5).tell({
      kind: 'request',
      by: 'controller-0',
      verb: 'patch',
      resource: 'bottlerocketshadows',
      name: 'brs-n1',
      code: 429,
      isVain: true,
    });
    expect(touch(refused.shadowGone('n1', 'person')).slots().breaches).toEqual([]);
  });

  test('one that another leader had taken, where nothing keeps what that one has sent from landing', () => {
    const found = (): Story => touch(ended().lease('other', ['n1'], { by: 'controller-1' }));
    expect(found().lease('other', [], { by: 'controller-1' }).breaches).toHaveLength(1);
    const bumped = found().shadow('n1', {}, { by: 'controller-1' });
    expect(bumped.lease('other', [], { by: 'controller-1' }).breaches).toEqual([]);
    const made = found().shadowGone('n1', 'person').shadow('n1', {}, { by: 'apiserver-0' });
    expect(made.lease('other', [], { by: 'controller-1' }).breaches).toEqual([]);
  });
});
