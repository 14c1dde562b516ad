import { expect } from '@jest/globals';
import { settle } from '../../../sim/clock.ts';
import { play } from '../scenarios.ts';
import { outcome } from '../world.ts';
import type { Call } from './api.ts';
import {
  begins,
  cordoned,
  ending,
  ends,
  evicts,
  follows,
  lists,
  looks,
  marks,
  node,
  pod,
  progress,
  proves,
  refused,
  shadow,
  states,
  tells,
} from './scenario.ts';
import { Stage } from './stage.ts';

const on = new Stage();

const web = pod('web-1');
const atDrain = (resourceVersion: string, pods: number): object => shadow(resourceVersion, { drain: progress(pods) });

/** A request finds the drain begun, and what another replica has stated of it. */
const joins = (...pods: readonly object[]): Call[] => [
  ...looks(cordoned('n2'), atDrain('s2', 1)),
  lists(...pods),
  states('s2', progress(1), atDrain('s3', 1)),
];

play('requests for one drain', {
  'by way of two replicas are answered by both, each by a look of its own': async () => {
    const first = on.drainsOnePod();
    await settle();
    on.scene.api.expects(...joins(ending('web-1')), follows(cordoned('n2'), ending('web-1')));
    const second = on.scene.replica().drain();
    await settle();
    const look = [...looks(cordoned('n2'), atDrain('s3', 1)), lists()];
    const proven = node('n3', { cordoned: true, marks: marks({ drained: '2026-01-01T00:00:00Z' }) });
    on.scene.api.expects(
      // Who is second to write, of the status and of the node, looks again from the beginning.
      [...look, ...look, states('s3', progress(0), atDrain('s4', 0)), states('s3', progress(0), refused(409))],
      [
        proves('n2', proven),
        tells('DrainFinished'),
        ...looks(cordoned('n2'), atDrain('s4', 0)),
        lists(),
        states('s4', progress(0), atDrain('s4', 0)),
        proves('n2', refused(409)),
      ],
      ...looks(proven, atDrain('s4', 0)),
      lists(),
      states('s4', progress(0), atDrain('s4', 0)),
      proves('n3', proven),
    );
    await on.scene.gone('web-1');
    expect(await Promise.all([first, second].map((drained) => outcome(drained)))).toEqual(['ok', 'ok']);
  },

  'join the run of their replica, which goes on when a client is gone': async () => {
    const scene = on.sets(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
    const { drain } = scene.replica();
    const gone = new AbortController();
    const first = drain(gone.signal);
    await settle();
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    scene.api.expects(evicts('landed'));
    await scene.tells('ADDED', pod('landed'));
    scene.api.expects(...joins(ending('web-1'), ending('landed')));
    const second = drain();
    expect(await outcome(second)).toBe('pending');
    scene.api.expects(...ends({ before: 1, shadow: 's3' }));
    await scene.gone('web-1', 'landed');
    expect(await outcome(second)).toBe('ok');
  },

  'bring the drain of a replica that was killed to its end': async () => {
    const scene = on.sets(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
    const first = scene.replica();
    void first.drain();
    await settle();
    first.tap.kill();
    const pods = [ending('web-1'), pod('landed')];
    scene.api.expects(...joins(...pods), [...follows(cordoned('n2'), ...pods), evicts('landed')]);
    const resumed = scene.replica().drain();
    expect(await outcome(resumed)).toBe('pending');
    scene.api.expects(...ends({ before: 1, shadow: 's3' }));
    await scene.gone('web-1', 'landed');
    expect(await outcome(resumed)).toBe('ok');
  },

  'find the deadline that a replica that was killed had': async () => {
    const scene = on.sets(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
    const first = scene.replica();
    void first.drain();
    await scene.clock.advance(40_000);
    first.tap.kill();
    scene.api.expects(...joins(ending('web-1')), follows(cordoned('n2'), ending('web-1')));
    const resumed = scene.replica().drain();
    await scene.clock.advance(9_999);
    expect(await outcome(resumed)).toBe('pending');
    scene.api.expects(
      ...looks(cordoned('n2'), atDrain('s3', 1)),
      lists(ending('web-1')),
      states('s3', progress(1), atDrain('s3', 1)),
      tells('DrainFailed', 'shop/web-1 (ending, due at 2026-01-01T00:00:30Z)'),
    );
    await scene.clock.advance(1);
    expect(await outcome(resumed)).toBe('504 DrainTimeout');
  },

  'are told to ask again by a replica that is shut down': async () => {
    const scene = on.sets(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
    const { drain, service } = scene.replica();
    const drained = drain();
    await settle();
    service.close();
    expect(await outcome(drained)).toBe('503 ShuttingDown');
    await scene.tells('ADDED', pod('landed'));
    expect(await outcome(drain())).toBe('503 ShuttingDown');
    await scene.clock.advance(60_000);
  },
});
