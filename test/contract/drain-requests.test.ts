import { expect } from '@jest/globals';
import { systemClock } from '../../runtime/lib/clock.ts';
import { eventually } from './eventually.ts';
import { evicts, proves, type Replica, statesProgress } from './replica.ts';
import { play, stage } from './stage.ts';

const on = stage();

const refused = (status: number, reason: string): object => expect.objectContaining({ status, reason });
const asked = ({ tap }: Replica): string[] =>
  tap.requests.filter(evicts).map(({ path }) => path.split('/').at(-2) ?? '');

play('requests for one drain', {
  'by way of two replicas are answered by both, each by a look of its own': async () => {
    await on.world.addPod('web-1');
    const replicas = [on.world.replica(), on.world.replica()];
    const drains = replicas.map((replica) => replica.drain());
    await on.world.endPod('web-1');
    await Promise.all(drains);
    for (const { tap } of replicas) expect(tap.requests.filter(proves)).not.toEqual([]);
  },

  'join the run of their replica, which goes on when a client is gone': async () => {
    await on.world.addPod('web-1');
    const replica = on.world.replica();
    const gone = new AbortController();
    const first = replica.drain(gone.signal);
    await on.world.isEnding('web-1');
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await on.world.addPod('landed');
    await on.world.isEnding('landed');
    const stated = replica.tap.requests.filter(statesProgress).length;
    const second = replica.drain();
    // It has seen pods that are left, and has a run to join.
    await eventually(() => expect(replica.tap.requests.filter(statesProgress).length).toBeGreaterThan(stated));
    for (const name of ['web-1', 'landed']) await on.world.endPod(name);
    await second;
    expect(asked(replica)).toEqual(['web-1', 'landed']);
    expect(replica.tap.watches.filter(({ path }) => path === '/api/v1/pods')).toHaveLength(1);
  },

  'bring the drain of a replica that was killed to its end': async () => {
    await on.world.addPod('web-1');
    const [first, second] = [on.world.replica(), on.world.replica()];
    void first.drain();
    await on.world.isEnding('web-1');
    first.tap.kill();
    await on.world.addPod('landed');
    const resumed = second.drain();
    for (const name of ['web-1', 'landed']) await on.world.endPod(name);
    await resumed;
    expect(asked(second)).toEqual(['landed']);
  },

  'find the deadline that a replica that was killed had': async () => {
    await on.world.addPod('web-1');
    const [first, second] = [on.world.replica({ timeoutSec: 3 }), on.world.replica({ timeoutSec: 3 })];
    void first.drain();
    await on.world.isEnding('web-1');
    const before = await on.world.marks();
    const since = Date.parse(before?.since ?? '');
    await eventually(() => expect(systemClock.now() - since).toBeGreaterThan(2_000));
    first.tap.kill();
    await expect(second.drain()).rejects.toEqual(refused(504, 'DrainTimeout'));
    const took = systemClock.now() - since;
    expect(took).toBeGreaterThanOrEqual(3_000);
    // From its own beginning it would have had until second 5.
    expect(took).toBeLessThan(5_000);
    expect(await on.world.marks()).toEqual(before);
  },

  'are told to ask again by a replica that is shut down': async () => {
    await on.world.addPod('web-1');
    const [first, second] = [on.world.replica(), on.world.replica()];
    const drained = first.drain();
    await on.world.isEnding('web-1');
    first.service.close();
    await expect(drained).rejects.toEqual(refused(503, 'ShuttingDown'));
    await expect(first.drain()).rejects.toEqual(refused(503, 'ShuttingDown'));
    const { length } = first.tap.requests;
    await on.world.addPod('landed');
    const resumed = second.drain();
    for (const name of ['web-1', 'landed']) await on.world.endPod(name);
    await resumed;
    expect(first.tap.requests).toHaveLength(length);
  },
});
