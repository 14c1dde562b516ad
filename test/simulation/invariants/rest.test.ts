import { describe, expect, test } from '@jest/globals';
import { noFailures, ownStatus } from './authority.ts';
import { calmMs, liveness } from './liveness.ts';
import { cordonsAtRest, marksAtRest, shadowsOfNodes, slotsAtRest } from './rest.ts';
import { MARKED, NO_POLICIES, Story, timeAt } from './story.ts';

const APISERVER = { by: 'apiserver-0' };

test('marks-at-rest: marks of a node at rest are gone soon after the storm', () => {
  const marked = (): Story => new Story(marksAtRest).fleet('n1').node('n1', { marks: MARKED }, APISERVER).calm();
  expect(marked().after(16).end().breaches).toEqual(['n1 is at rest and bears marks']);
  expect(marked().after(14).end().breaches).toEqual([]);
  expect(marked().isMet).toBe(false);
  expect(marked().node('n1', { marks: null }, APISERVER).after(16).end().breaches).toEqual([]);
  expect(
    new Story(marksAtRest).fleet('n1').start('n1').node('n1', { marks: MARKED }).calm().after(16).end().breaches,
  ).toEqual([]);
});

describe('cordons-at-rest', () => {
  const PERSON = { by: 'person' };
  const calm = (): Story => new Story(cordonsAtRest).fleet('n1', 'n2').calm();
  const cordoned = (): Story => calm().node('n1', { cordoned: true }, APISERVER);
  const left = ['n1 is at rest without marks, and cordoned by apiserver-0'];

  test('a cordon of ours of which no marks tell', () => {
    expect(cordoned().after(200).end().breaches).toEqual(left);
    expect(cordoned().isMet).toBe(false);
    expect(cordoned().after(14).end().breaches).toEqual([]);
    expect(cordoned().node('n1', { cordoned: false }, APISERVER).after(200).end().breaches).toEqual([]);
    // Its shadow is gone, and so is its agent: nobody comes back to it.
    const gone = cordoned().process('agent-n1', 'killed').shadowGone('n1', 'controller-0');
    expect(gone.after(200).end().breaches).toEqual(left);
  });

  test('one that marks tell of, or in an update, is for others to judge', () => {
    expect(cordoned().node('n1', { marks: MARKED }, APISERVER).after(200).end().breaches).toEqual([]);
    expect(calm().start('n1').node('n1', { cordoned: true }, APISERVER).after(200).end().breaches).toEqual([]);
  });

  test("an administrator's: made, made again, kept by a hold, or known from the marks that he has changed", () => {
    expect(calm().node('n1', { cordoned: true }, PERSON).after(200).end().breaches).toEqual([]);
    const again = cordoned().node('n1', { cordoned: false }, PERSON).node('n1', { cordoned: true }, PERSON);
    expect(again.after(200).end().breaches).toEqual([]);
    expect(cordoned().node('n1', { held: true }, PERSON).after(200).end().breaches).toEqual([]);
    const marked = (): Story => calm().node('n1', { cordoned: true, marks: MARKED }, APISERVER);
    expect(marked().node('n1', { marks: null }, PERSON).after(200).end().breaches).toEqual([]);
    // What he did to the marks of an earlier cordon says nothing of this one.
    const later = marked()
      .node('n1', { marks: null, cordoned: false }, PERSON)
      .node('n1', { cordoned: true }, APISERVER);
    expect(later.after(200).end().breaches).toEqual(left);
  });

  test('where the marks of a node that is held were taken, the cordon that stays is that of whoever holds it', () => {
    const held = calm().node('n1', { cordoned: true, marks: MARKED, held: true }, APISERVER);
    const free = held.node('n1', { marks: null }, APISERVER).node('n1', { held: false }, PERSON);
    expect(free.after(200).end().breaches).toEqual([]);
  });
});

test('slots-at-rest: slots of nodes at rest, or gone, are given back', () => {
  const slot = (): Story => new Story(slotsAtRest).process('controller-0', 'starts').fleet('n1').slots('n1').calm();
  expect(slot().after(16).end().breaches).toEqual(['n1 is at rest and has a slot']);
  expect(slot().nodeGone('n1').after(16).end().breaches).toHaveLength(1);
  expect(slot().slots().after(16).end().breaches).toEqual([]);
  // No node is left on which a controller could run.
  const deserted = slot().nodeGone('n1').process('controller-0', 'killed');
  expect(deserted.after(16).end().breaches).toEqual([]);
  expect(new Story(slotsAtRest).fleet('n1').start('n1').calm().after(16).end().breaches).toEqual([]);
});

test('shadows-of-nodes: a node that is gone, or not managed, has no shadow', () => {
  const calm = (): Story => new Story(shadowsOfNodes).fleet('n1', 'n2').calm();
  expect(calm().nodeGone('n1').after(16).end().breaches).toHaveLength(1);
  expect(calm().node('n1', { managed: false }).after(16).end().breaches).toHaveLength(1);
  expect(calm().node('n1', { managed: false }).shadowGone('n1', 'controller-0').after(16).end().breaches).toEqual([]);
});

describe('own-status', () => {
  const fleet = (): Story => new Story(ownStatus).fleet('n1', 'n2');

  const FAILED = { current_state: 'ErrorReset', current_version: '1.0.0', crash_count: 1 };
  const ask = (story: Story, node: string, status?: object, by = `agent-${node}`): Story => {
    const body = status && JSON.stringify(status);
    return story.tell({ kind: 'asked', by, node, to: 'apiserver-0', path: '/', body });
  };

  test('a status with the boot or the version of another host', () => {
    const record = (boot_id: string) => ({ status: { reboot: { boot_id, version: '1.1.0' } } });
    const asked = (status?: object): Story => ask(fleet(), 'n1', status);
    expect(asked().shadow('n1', record('boot of n2'), APISERVER).breaches).toHaveLength(1);
    expect(asked().shadow('n1', record('boot of n1'), APISERVER).breaches).toEqual([]);
    const status = { current_state: 'Idle', current_version: '1.1.0', crash_count: 0 };
    expect(asked(status).shadow('n1', { status }, APISERVER).breaches).toHaveLength(1);
  });

  test('a status that its agent has not sent to this replica lately', () => {
    const said = (): Story => ask(fleet(), 'n1', FAILED);
    expect(said().shadow('n1', { status: FAILED }, APISERVER).breaches).toEqual([]);
    expect(said().shadow('n2', { status: FAILED }, APISERVER).breaches).toEqual([
      'apiserver-0 wrote bottlerocketshadows brs-n2, and its agent has not asked',
    ]);
    expect(said().shadow('n1', { status: FAILED }, { by: 'apiserver-1' }).breaches).toHaveLength(1);
    expect(said().after(6).shadow('n1', { status: FAILED }, APISERVER).breaches).toHaveLength(1);
    const other = { ...FAILED, current_state: 'Idle' };
    expect(ask(fleet(), 'n1', other).shadow('n1', { status: FAILED }, APISERVER).breaches).toHaveLength(1);
    expect(fleet().after(6).shadow('n1', { verdict: 'AgentSilent' }).breaches).toEqual([]);
  });

  test('a drain for which no agent of that node has asked lately, or the older one ever', () => {
    const drain = (asks: string, by?: string): readonly string[] =>
      ask(fleet(), asks, undefined, by)
        .after(6)
        .shadow('n1', { status: { drain: { started_at: 'now' } } }, APISERVER)
        .node('n1', { cordoned: true }, APISERVER).breaches;
    expect(drain('n1')).toHaveLength(2);
    expect(drain('n1', 'upstream-agent-n1')).toEqual([]);
    expect(drain('n2', 'upstream-agent-n2')).toHaveLength(2);
  });

  test('an agent writes nothing itself', () => {
    expect(fleet().shadow('n1', { status: { crash_count: 1 } }, { by: 'agent-n2' }).breaches).toHaveLength(1);
  });

  test('what a dead agent has sent to a replica that stood still lands once that goes on', () => {
    const freeze = { kind: 'fault', id: 1, name: 'freeze', about: 'apiserver-0' } as const;
    const late = (by: string): readonly string[] => {
      const story = fleet()
        .tell({ ...freeze, phase: 'begins' })
        .process('agent-n1', 'killed')
        .after(10);
      return story.tell({ ...freeze, phase: 'ends' }).shadow('n1', { status: { current_state: 'ErrorReset' } }, { by })
        .breaches;
    };
    expect(late('apiserver-0')).toEqual([]);
    expect(late('apiserver-1')).toHaveLength(1);
  });
});

test('no-failures: a process that fails', () => {
  expect(new Story(noFailures).process('agent-n1', 'failed').breaches).toHaveLength(1);
  expect(new Story(noFailures).process('agent-n1', 'killed').breaches).toEqual([]);
});

describe('liveness', () => {
  const calm = (controller = {}): Story => new Story(liveness, { controller }).fleet('n1', 'n2').calm();
  const updated = (story: Story, name: string): Story =>
    story.start(name).finish(name).shadow(name, { verdict: 'UpToDate' });

  test('a fleet that is updated, and says so', () => {
    const story = updated(updated(calm(), 'n1'), 'n2');
    expect(story.isMet).toBe(true);
    expect(story.after(20).end().breaches).toEqual([]);
    expect(story.shadow('n1', { verdict: 'Paused' }).end().breaches).toEqual([
      'n1: it runs 1.1.0, and is said to be Paused',
    ]);
  });

  test('a node that waits for nothing', () => {
    const idle = updated(calm(), 'n1').shadow('n2', { verdict: 'Paused' });
    expect(idle.isMet).toBe(false);
    expect(idle.after(20).end().breaches).toEqual(['n2: it runs 1.0.0, is offered 1.1.0, and is said to be Paused']);
  });

  test('a node whose agent does not know of the newest release', () => {
    const status = { target_version: '1.0.0' };
    const story = updated(calm(), 'n1').shadow('n2', { status, verdict: 'UpToDate' }, APISERVER);
    expect(story.after(20).end().breaches).toEqual(['n2: it is offered 1.1.0, and its agent says 1.0.0']);
  });

  test('a fleet that waits for a node which is gone for good, and says so', () => {
    const lost = calm().start('n1').node('n1', { ready: false }).shadow('n2', { verdict: 'WaitingForSlot' }).after(60);
    expect(lost.end().breaches).toEqual([
      'n1: it is not Ready, and is said to be nothing',
      'n2: it waits for nodes of which nobody is told',
    ]);
    const told = calm().start('n1').node('n1', { ready: false }).shadow('n2', { verdict: 'WaitingForSlot' }).after(60);
    expect(told.shadow('n1', { verdict: 'NotReturned' }).end().breaches).toEqual([]);
    expect(told.isMet).toBe(true);
  });

  test('a node that has just gone down for its update is waited for, until somebody should have told of it', () => {
    const down = (minutes: number): readonly string[] => {
      const started = calm().start('n1').shadow('n2', { verdict: 'WaitingForSlot' }).after(60);
      return started.node('n1', { ready: false }).after(minutes).end().breaches;
    };
    expect(down(5)).toEqual([]);
    expect(down(30)).toContain('n2: it waits for nodes of which nobody is told');
  });

  test('a drain whose pods no other node takes lasts for as long as it may', () => {
    const blocked = (ready: boolean): Story => {
      const drained = { state: 'RebootedIntoUpdate', status: { drain: { started_at: timeAt(0) } } };
      const story = calm()
        .start('n1')
        .shadow('n1', { ...drained, verdict: 'DrainBlocked' })
        .node('n2', { ready });
      return story.shadow('n2', { verdict: ready ? 'WaitingForSlot' : 'NodeNotReady' }).after(240);
    };
    expect(blocked(true).end().breaches).toEqual([
      'n1: its update has lasted for 240 minutes, and it is said to be DrainBlocked',
    ]);
    expect(blocked(false).end().breaches).toEqual([]);
    expect(blocked(false).isMet).toBe(true);
    expect(blocked(false).shadow('n1', { verdict: 'Updating' }).end().breaches).toHaveLength(1);
    // Whoever is drained does not ask what else there is.
    const status = { target_version: '1.0.5' };
    expect(blocked(false).shadow('n1', { status }, APISERVER).end().breaches).toEqual([]);
    // The node that waits for it is Ready, and cordoned by somebody.
    const cordoned = blocked(false).node('n2', { ready: true, cordoned: true });
    expect(cordoned.shadow('n2', { verdict: 'WaitingForSlot' }).after(20).end().breaches).toEqual([]);
  });

  test('a fleet without a controller is judged as long as some node takes its pod', () => {
    const cordoned = calm().node('n1', { cordoned: true });
    const deserted = (): Story => calm().node('n1', { cordoned: true }).node('n2', { cordoned: true }).after(60);
    expect(cordoned.after(60).end().breaches).toHaveLength(2);
    expect(deserted().isMet).toBe(true);
    expect(deserted().end().breaches).toEqual([]);
    expect(deserted().process('controller-0', 'starts').end().breaches).toHaveLength(2);
  });

  test('a backoff that is over, and one that is not', () => {
    const failed = (crashes: number, at: number): Story => {
      const status = { crash_count: crashes, state_transition_failure_timestamp: timeAt(at) };
      return updated(calm(), 'n1').shadow('n2', { status, verdict: 'BackingOff' }).after(60);
    };
    expect(failed(9, 0).end().breaches).toEqual([]);
    expect(failed(3, 0).end().breaches).toHaveLength(1);
  });

  test('a release that is said to be halted, and is not', () => {
    const said = (failed: object): Story =>
      updated(calm({ MAX_FAILED_UPDATE: '1' }), 'n1')
        .shadow('n2', { status: failed, verdict: 'RolloutHalted' })
        .after(20);
    expect(said({ failed_versions: [] }).end().breaches).toHaveLength(1);
    expect(said({ failed_versions: ['1.1.0'] }).end().breaches).toEqual([]);
  });

  test('a fleet that goes on, and is slower than its updates take, though none of its nodes pauses after a failure', () => {
    const slow = (): Story =>
      calm().shadow('n1', { verdict: 'WaitingForSlot' }).shadow('n2', { verdict: 'WaitingForSlot' });
    const tooSlow = '2 nodes still wait, and the fleet is slower than it may be';
    expect(slow().after(120).end().breaches).toEqual([]);
    expect(slow().after(300).end().breaches).toEqual([tooSlow]);
    // A pod that takes longer to end than a drain waits makes its node fail each time.
    const failed = { crash_count: 6, state_transition_failure_timestamp: timeAt(320) };
    const paused = slow().after(300).shadow('n2', { status: failed, verdict: 'BackingOff' });
    expect(paused.end().breaches).toEqual(['1 nodes wait, and nobody is on his way']);
  });

  test('the bound grows with the fleet and shrinks with the places, up to four hours and a half', () => {
    const bound = (nodes: number, atOnce: string): number =>
      calmMs({
        seed: 1,
        nodes,
        stormMs: 0,
        releases: [],
        faults: [],
        policies: NO_POLICIES,
        settings: { controller: { MAX_CONCURRENT_UPDATE: atOnce }, apiserver: {}, agent: {} },
      });
    expect(bound(3, '1')).toBeLessThan(bound(6, '1'));
    expect(bound(6, '3')).toBeLessThan(bound(6, '1'));
    expect(bound(200, '1')).toBe(4.5 * 3_600_000);
  });
});
