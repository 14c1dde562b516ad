import { describe, expect, test } from '@jest/globals';
import type { KubeRequest } from '../../runtime/kube/transport.ts';
import { admin, candidate, NAME, read, unanswered } from './candidates.ts';
import { world } from './world.ts';

describe('a term', () => {
  test.each(['takes', 'renews'])(
    'one that %s the lease has it from when it asked, not from a late answer',
    async (when) => {
      const cluster = world();
      const a = candidate(cluster, 'a');
      const late = async ({ method }: KubeRequest): Promise<void> => {
        if (method === 'GET') return;
        a.transport.before = unanswered;
        await cluster.clock.sleep(3500);
      };
      if (when === 'renews') await cluster.clock.advance(20_000);
      a.transport.after = late;
      await cluster.clock.advance(6000);
      expect(a.election.leading).toBe(true);
      const asked = Date.parse((await read(cluster)).spec?.renewTime ?? '');
      await cluster.clock.advance(asked + 10_500 - cluster.clock.now());
      expect(a.election.leading).toBe(false);
    },
  );

  test('a deposed leader whose work ends late leaves the lease of its successor alone', async () => {
    const cluster = world();
    const a = candidate(cluster, 'a', { windDownMs: 30_000 });
    await cluster.clock.advance(0);
    const b = candidate(cluster, 'b');
    await cluster.clock.advance(20_000);
    a.transport.before = unanswered;
    await cluster.clock.advance(20_000);
    a.transport.before = () => undefined;
    await cluster.clock.advance(60_000);
    expect(b.election.leading).toBe(true);
    expect((await read(cluster)).spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
  });

  test.each([
    [60, 55_000],
    [null, 10_000],
  ])('the second waits for as long as the holder asked for: %p seconds', async (leaseDurationSeconds, waitMs) => {
    const cluster = world();
    const spec = { holderIdentity: 'x', leaseDurationSeconds };
    await admin(cluster).create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: NAME },
      spec,
    });
    const b = candidate(cluster, 'b');
    await cluster.clock.advance(waitMs);
    expect(b.election.leading).toBe(false);
    await cluster.clock.advance(10_000);
    expect(b.election.leading).toBe(true);
  });

  test('goes on leading where one renewal is never answered', async () => {
    const cluster = world();
    const a = candidate(cluster, 'a');
    await cluster.clock.advance(4000);
    a.transport.before = (request) => {
      a.transport.before = () => undefined;
      return unanswered(request);
    };
    await cluster.clock.advance(30_000);
    expect([a.election.leading, a.lost()]).toEqual([true, undefined]);
  });
});
