import { describe, expect, test } from '@jest/globals';
import { apiStatusError, UnreachableError } from '../../runtime/kube/errors.ts';
import { LeaderElection, LeadershipLostError, microTime } from '../../runtime/kube/leader-election.ts';
import { leasesOf } from '../../runtime/kube/resources.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import {
  admin,
  bothLead,
  candidate,
  leaderAndStandby,
  NAME,
  read,
  PERMITS,
  swapPermits,
  unanswered,
} from './candidates.ts';
import { seeded } from '../random.ts';
import { random, world } from './world.ts';

describe('a process that was started anew in the place of a dead one', () => {
  const inPlaceOf = (pod: string) => (holder: string) => holder.startsWith(`${pod}_`);

  test('does not wait for the lease of its predecessor to run out', async () => {
    const cluster = world();
    const first = candidate(cluster, 'pod-a_1');
    await cluster.clock.advance(0);
    await swapPermits(cluster, '[1]');
    first.kill();
    const second = candidate(cluster, 'pod-a_2', { isPredecessor: inPlaceOf('pod-a') });
    await cluster.clock.advance(0);
    expect(second.election.leading).toBe(true);
    expect((await read(cluster)).metadata.annotations).toEqual({ [PERMITS]: '[1]' });
  });

  test('waits for the lease of anybody else', async () => {
    const cluster = world();
    const first = candidate(cluster, 'pod-a_1');
    await cluster.clock.advance(0);
    first.kill();
    const other = candidate(cluster, 'pod-b_1', { isPredecessor: inPlaceOf('pod-b') });
    await cluster.clock.advance(14_000);
    expect(other.election.leading).toBe(false);
  });
});

describe('of two candidates', () => {
  test('one leads for as long as it lives, and the other does not', async () => {
    const { cluster, a, b } = await leaderAndStandby();
    await cluster.clock.advance(600_000);
    expect([a.election.leading, b.election.leading]).toEqual([true, false]);
    expect((await read(cluster)).spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15 });
  });

  test('the second follows a leader that died after its lease ran out, not before', async () => {
    const { cluster, a, b } = await leaderAndStandby();
    await cluster.clock.advance(20_000);
    a.kill();
    await cluster.clock.advance(12_500);
    expect(b.election.leading).toBe(false);
    await cluster.clock.advance(7_500);
    expect(b.election.leading).toBe(true);
    expect((await read(cluster)).spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test('a leader cut off from the API has stopped before the other begins', async () => {
    const { cluster, a, b } = await leaderAndStandby();
    await cluster.clock.advance(20_000);
    a.transport.before = unanswered;
    expect(await bothLead(cluster, a, b)).toBe(false);
    expect(b.election.leading).toBe(true);
    expect(a.lost()).toBeInstanceOf(LeadershipLostError);
    a.transport.before = () => undefined;
    await cluster.clock.advance(60_000);
    expect([a.election.leading, b.election.leading]).toEqual([false, true]);
  });

  test('a leader that is told to end hands over at once', async () => {
    const { cluster, a, b } = await leaderAndStandby();
    await cluster.clock.advance(20_000);
    a.stop();
    await cluster.clock.advanceUntil(a.ended, 1000);
    expect((await read(cluster)).spec).toMatchObject({ holderIdentity: '' });
    await cluster.clock.advance(3000);
    expect(b.election.leading).toBe(true);
  });

  test('the clocks of others prove nothing: a renewal from the past still counts when it is new', async () => {
    const cluster = world();
    const lease = { metadata: { name: NAME }, spec: { holderIdentity: 'x', leaseDurationSeconds: 15 } };
    await admin(cluster).create({ ...lease, spec: { ...lease.spec, renewTime: '2001-01-01T00:00:00.000000Z' } });
    const b = candidate(cluster, 'b');
    await cluster.clock.advance(12_000);
    expect(b.election.leading).toBe(false);
    await cluster.clock.advance(8_000);
    expect(b.election.leading).toBe(true);
  });
});

describe('what else stands on the lease', () => {
  test('stays through renewals, swaps in between, release and takeover', async () => {
    const cluster = world();
    const a = candidate(cluster, 'a');
    await cluster.clock.advance(5000);
    await swapPermits(cluster, '["one"]');
    await cluster.clock.advance(5000);
    await swapPermits(cluster, '["two"]');
    await cluster.clock.advance(30_000);
    expect(a.election.leading).toBe(true);
    expect(a.lost()).toBeUndefined();
    a.stop();
    const b = candidate(cluster, 'b');
    await cluster.clock.advance(5000);
    expect(b.election.leading).toBe(true);
    expect((await read(cluster)).metadata.annotations).toEqual({ [PERMITS]: '["two"]' });
  });

  test('is no renewal: a dead leader whose annotations are written loses the lease all the same', async () => {
    const { cluster, a, b } = await leaderAndStandby();
    await cluster.clock.advance(20_000);
    a.kill();
    for (let second = 0; second < 20; second++) {
      await cluster.clock.advance(1000);
      if (!b.election.leading) await swapPermits(cluster, String(second));
    }
    expect(b.election.leading).toBe(true);
  });
});

describe('a leader', () => {
  test('renews without reading while nobody else writes', async () => {
    const cluster = world();
    const a = candidate(cluster, 'a');
    await cluster.clock.advance(60_000);
    expect(a.transport.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
    expect(a.transport.requests.filter(({ method }) => method === 'PUT').length).toBeGreaterThan(25);
  });

  test('whose answers get lost for a while finds its own writes and goes on leading', async () => {
    const cluster = world();
    const a = candidate(cluster, 'a');
    await cluster.clock.advance(4000);
    a.transport.after = () => {
      throw new UnreachableError('reset');
    };
    await cluster.clock.advance(7000);
    a.transport.after = () => undefined;
    await cluster.clock.advance(20_000);
    expect(a.election.leading).toBe(true);
    expect(a.lost()).toBeUndefined();
    expect((await read(cluster)).spec?.leaseTransitions).toBe(0);
  });

  test('keeps the lease at an API server that turns away nearly half of what it is asked', async () => {
    const cluster = world();
    const a = candidate(cluster, 'a');
    await cluster.clock.advance(0);
    candidate(cluster, 'b');
    const drawn = seeded();
    const asked = { verbs: ['get', 'update'], resource: 'leases', where: () => drawn() < 0.45 };
    cluster.cluster.disturb(asked, { kind: 'busy' });
    await cluster.clock.advance(600_000);
    expect(a.lost()).toBeUndefined();
    expect(a.election.leading).toBe(true);
  });

  test('stands again after it was refused for a while', async () => {
    const cluster = world();
    const a = candidate(cluster, 'a');
    await cluster.clock.advance(0);
    a.transport.before = () => {
      throw apiStatusError('PUT', { code: 403, reason: 'Forbidden' });
    };
    await cluster.clock.advance(15_000);
    expect(a.election.leading).toBe(false);
    a.transport.before = () => undefined;
    await cluster.clock.advance(5000);
    expect(a.election.leading).toBe(true);
  });

  test('whose work fails gives the lease back and fails', async () => {
    const cluster = world();
    const failing = new LeaderElection({
      leases: leasesOf(cluster.tap(), 'default'),
      name: NAME,
      identity: 'a',
      onLeading: () => Promise.reject(new Error('broken')),
      clock: cluster.clock,
      random,
      logger: silentLogger,
    });
    await expect(cluster.clock.advanceUntil(failing.run(new AbortController().signal), 1000)).rejects.toThrow('broken');
    expect((await read(cluster)).spec?.holderIdentity).toBe('');
  });
});

test('times on the lease have six decimals', () => {
  expect(microTime(Date.parse('2026-01-01T00:00:00.5Z'))).toBe('2026-01-01T00:00:00.500000Z');
});
