import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Node } from '../../runtime/kube/objects.ts';
import { MARKS_ANNOTATION } from '../../runtime/marks/names.ts';
import type { Shadow } from '../../runtime/shadow/model.ts';
import { VirtualClock } from '../../sim/clock.ts';
import { End } from '../../sim/end.ts';

interface Facts {
  readonly version?: string;
  readonly wanted?: Shadow['spec']['state'];
  readonly reason?: string;
  readonly marked?: boolean;
}

/** A fleet of one node. */
function fleet({ version = '1.38.0', wanted = 'Idle', reason = 'UpToDate', marked = false }: Facts) {
  const node: Node = {
    metadata: { name: 'n1', uid: 'u', resourceVersion: '1', annotations: marked ? { [MARKS_ANNOTATION]: '{}' } : {} },
    status: { nodeInfo: { osImage: `Bottlerocket OS ${version} (aws-k8s-1.33)` } },
  };
  const shadow: Shadow = {
    metadata: { name: 'brs-n1' },
    spec: { state: wanted },
    status: {
      current_version: version,
      target_version: '1.39.0',
      current_state: 'Idle',
      crash_count: 0,
      conditions: [{ type: 'UpToDate', status: 'False', reason, message: '', lastTransitionTime: 'x' }],
    },
  };
  return { nodes: new Map([['n1', node]]), shadows: new Map([['brs-n1', shadow]]) };
}

let clock: VirtualClock;
let stop: AbortController;
let end: End;
let ended: string | undefined;
beforeEach(() => {
  clock = new VirtualClock();
  stop = new AbortController();
  end = new End({ to: '1.39.0', clock, signal: stop.signal });
  ended = undefined;
  end.over.then(
    () => (ended = 'over'),
    (error: Error) => (ended = error.message),
  );
});

async function afterLook(facts: Facts): Promise<string | undefined> {
  end.look(fleet(facts));
  await clock.advance(0);
  return ended;
}

describe('a rollout is over at once', () => {
  test.each<[string, Facts]>([
    ['when every node runs the new version and rests', { version: '1.39.0' }],
    ['when the rest backs off', { reason: 'BackingOff' }],
    ['when the release is halted', { reason: 'RolloutHalted' }],
    ['when a node does not return', { wanted: 'RebootedIntoUpdate', reason: 'NotReturned' }],
  ])('%s', async (_, facts) => expect(await afterLook(facts)).toBe('over'));
});

describe('a rollout goes on', () => {
  test.each<[string, Facts]>([
    ['while a node updates', { wanted: 'StagedAndPerformedUpdate', reason: 'Updating' }],
    ['while a node bears marks', { version: '1.39.0', marked: true }],
    ['while the controller has not looked at what a node reported', { version: '1.39.0', reason: 'Updating' }],
    ['while a node waits for its turn', { reason: 'WaitingForSlot' }],
  ])('%s', async (_, facts) => {
    await afterLook(facts);
    await clock.advance(200_000);
    expect(ended).toBeUndefined();
  });
});

describe('a host that is offered nothing', () => {
  test('is waited for until its second look must have come', async () => {
    expect(await afterLook({ reason: 'NoUpdateOffered' })).toBeUndefined();
    await clock.advance(199_999);
    expect(ended).toBeUndefined();
    await clock.advance(1);
    expect(ended).toBe('over');
  });

  test('may be offered it in that time', async () => {
    await afterLook({ reason: 'UpToDate' });
    await clock.advance(5_000);
    await afterLook({ reason: 'WaitingForSlot' });
    await clock.advance(200_000);
    expect(ended).toBeUndefined();
  });
});

test('a world that breaks is told, unless it was ended', async () => {
  end.broken(new Error('broke'));
  await clock.advance(0);
  expect(ended).toBe('broke');
});

test('an interruption ends it, also one that came before', async () => {
  stop.abort(new Error('x'));
  await clock.advance(0);
  expect(ended).toBe('over');
  await expect(new End({ to: '1', clock, signal: stop.signal }).over).resolves.toBeUndefined();
});
