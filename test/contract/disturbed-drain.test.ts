import { expect } from '@jest/globals';
import { UnreachableError } from '../../runtime/kube/errors.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { PLURAL } from '../../runtime/api/shadow/names.ts';
import { eventually } from './eventually.ts';
import { asleep, cordons, evicts, proves, statesProgress } from './replica.ts';
import { play, stage } from './stage.ts';

/** What others do, or the API server refuses, between a drain's own steps. */

const on = stage();

const refused = (status: number, reason: string): object => expect.objectContaining({ status, reason });
const cordoned = (): Promise<void> => eventually(async () => expect(await on.world.isCordoned()).toBe(true));

play('in the middle of a drain', {
  'an administrator who uncordons has the node cordoned again, and drained of what came': async () => {
    await on.world.addPod('web-1');
    const drained = on.world.replica().drain();
    await cordoned();
    const before = await on.world.marks();
    await on.world.patchNode({ spec: { unschedulable: null } });
    await on.world.addPod('landed');
    await cordoned();
    for (const name of ['web-1', 'landed']) await on.world.endPod(name);
    await drained;
    expect((await on.world.marks())?.id).toBe(before?.id);
  },

  'marks that vanish end it with the word to ask again': async () => {
    await on.world.addPod('web-1');
    const drained = on.world.replica().drain();
    await cordoned();
    await on.world.patchNode({
      metadata: { annotations: { [MARKS_ANNOTATION]: null } },
      spec: { unschedulable: null },
    });
    await expect(drained).rejects.toEqual(refused(503, 'Superseded'));
    expect(await on.world.isCordoned()).toBe(false);
  },

  'a node that vanishes ends it, too': async () => {
    await on.world.addPod('web-1');
    const { drain, tap } = on.world.replica();
    const drained = drain();
    await eventually(() => expect(tap.watches).toHaveLength(2));
    await on.world.removeNode();
    // Where its pods are taken away first, the drain looks for itself what has become of the node.
    const end = await drained.catch((error: unknown) => error);
    expect([refused(503, 'Superseded'), refused(409, 'NotAllowed')]).toContainEqual(end);
  },
});

play('a node is not cordoned', {
  'where the status cannot be written': async () => {
    const { transport } = await on.world.account(`${PLURAL}/status`);
    await expect(on.world.replica({ transport }).drain()).rejects.toThrow('403');
    expect(await on.world.isCordoned()).toBe(false);
  },

  'where the shadow changed since it was looked at, and no drain is wanted any more': async () => {
    const replica = on.world.replica();
    const status = asleep(replica, statesProgress);
    const drained = replica.drain();
    await status.reached;
    await on.world.setSpec({ state: 'Idle' });
    status.wake();
    await expect(drained).rejects.toEqual(refused(409, 'NotAllowed'));
    expect(await on.world.isCordoned()).toBe(false);
    expect(await on.world.progress()).toBeUndefined();
  },

  'where the node changed since it was looked at, and no drain is wanted any more': async () => {
    const replica = on.world.replica();
    const cordon = asleep(replica, cordons);
    const drained = replica.drain();
    await cordon.reached;
    await on.world.setSpec({ state: 'Idle' });
    await on.world.patchNode({ metadata: { labels: { changed: 'yes' } } });
    cordon.wake();
    await expect(drained).rejects.toEqual(refused(409, 'NotAllowed'));
    expect(await on.world.isCordoned()).toBe(false);
  },
});

play('the last check', {
  'is made anew where the node changed since it was looked at': async () => {
    const replica = on.world.replica();
    const proof = asleep(replica, proves);
    const drained = replica.drain();
    await proof.reached;
    await on.world.patchNode({ spec: { unschedulable: null } });
    await on.world.addPod('landed');
    await on.world.patchNode({ spec: { unschedulable: true } });
    proof.wake();
    await on.world.endPod('landed');
    await drained;
    expect((await on.world.marks())?.drained).toBeDefined();
  },

  'is made anew where the shadow changed since it was looked at': async () => {
    await on.world.addPod('web-1');
    const replica = on.world.replica();
    const drained = replica.drain();
    await on.world.isEnding('web-1');
    const status = asleep(replica, statesProgress);
    await on.world.endPod('web-1');
    await status.reached;
    await on.world.setStatus({ crash_count: 1 });
    status.wake();
    await drained;
    expect((await on.world.shadow()).status).toMatchObject({ crash_count: 1, drain: { pods_left: 0 } });
    expect(replica.tap.requests.filter(statesProgress).length).toBeGreaterThanOrEqual(3);
  },

  'is no success where the pods cannot be listed': async () => {
    await on.world.addPod('web-1');
    const replica = on.world.replica();
    const drained = replica.drain();
    await eventually(() => expect(replica.tap.requests.some(evicts)).toBe(true));
    replica.tap.before = ({ method, path }) => {
      if (method === 'GET' && path === '/api/v1/pods') throw new UnreachableError('no answer');
    };
    await on.world.endPod('web-1');
    await expect(drained).rejects.toThrow('no answer');
    expect((await on.world.marks())?.drained).toBeUndefined();
  },

  'is no success where the proof is refused': async () => {
    const { transport, withdraw } = await on.world.account();
    const replica = on.world.replica({ transport });
    const proof = asleep(replica, proves);
    const drained = replica.drain();
    await proof.reached;
    await withdraw();
    proof.wake();
    await expect(drained).rejects.toThrow('403');
    expect((await on.world.marks())?.drained).toBeUndefined();
  },
});
