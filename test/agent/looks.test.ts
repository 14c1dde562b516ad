import { describe, expect, test } from '@jest/globals';
import type { FailingCheck } from '../../runtime/api/shadow/model.ts';
import { reports, staged } from './hand.ts';
import { build, offered, world } from './stage.ts';
import type { WorldOptions } from './world.ts';

const HOUR_MS = 3_600_000;
const check = (): FailingCheck | null | undefined => world.operator.status.check;
const said = (): number => world.operator.log.length;

/** At rest, with nothing offered, and an hour of looks that have succeeded. */
async function atRest(options?: WorldOptions): Promise<void> {
  build(options).releases.withdraw('1.39.0');
  await world.until(() => world.asked('refresh-updates') === 1 && world.idle);
  await world.advance(HOUR_MS);
}

describe('a host that cannot look for updates', () => {
  test('says since when and why, and when it last could, by one write; and by one that it can again', async () => {
    await atRest();
    expect(check()).toBeUndefined();
    const before = said();
    const began = world.clock.now();
    world.host.inject('repository-gone');
    await world.advance(HOUR_MS);
    const { failing_since = '', succeeded_at, error } = check() ?? {};
    expect(Date.parse(failing_since) - began).toBeLessThan(140_000);
    expect(Date.parse(failing_since) - Date.parse(succeeded_at ?? '')).toBeLessThan(140_000);
    expect(error).toBe(
      'refresh failed on the host with exit status 1: Metadata error: Failed to fetch: 503 Service Unavailable',
    );
    expect(said() - before).toBe(1);
    world.host.clear('repository-gone');
    await world.advance(HOUR_MS);
    expect(check()).toBeUndefined();
    expect(said() - before).toBe(2);
  });

  test.each(['repository-silent', 'hang', 'updog-missing', 'torn-status'] as const)('says so of %s', async (fault) => {
    await atRest();
    world.host.inject(fault);
    await world.advance(HOUR_MS);
    expect(check()?.error).toMatch(/\w/);
    expect(world.operator.status.target_version).toBe('1.38.0');
  });

  test('says it in one line that fits its field, whatever its tool has said', async () => {
    await atRest();
    world.operator.overwrite({ target_version: '1.39.0' });
    world.host.inject('dispatcher-missing');
    await world.advance(HOUR_MS);
    expect(world.operator.status).toMatchObject({
      target_version: '1.38.0',
      check: { error: 'this image has no updates in place' },
    });
  });

  test('does not say it anew in another life of the agent', async () => {
    await atRest();
    world.host.inject('repository-gone');
    await world.advance(HOUR_MS);
    const [before, first] = [said(), check()];
    world.restart();
    await world.advance(HOUR_MS);
    expect([said(), check()]).toEqual([before, first]);
  });

  test('writes no more than once an hour where the cluster does not keep it', async () => {
    await atRest({ drops: ['check'] });
    let puts = 0;
    world.operator.before = (ask) => void (ask === 'putStatus' && puts++);
    world.host.inject('repository-gone');
    await world.advance(4 * HOUR_MS);
    // A write of which nothing is seen is made twice.
    expect(puts).toBeLessThanOrEqual(2 * 4);
  });

  test.each([
    ['made anew', () => world.operator.deleteShadow()],
    ['written by a client that drops the field', () => world.operator.overwrite({ check: null })],
  ])('says it once more where the shadow is %s, and still since when', async (_how, lose) => {
    await atRest();
    world.host.inject('repository-gone');
    await world.advance(HOUR_MS);
    const first = check();
    lose();
    await world.advance(1.5 * HOUR_MS);
    expect([first?.error, check()]).toEqual([expect.any(String), first]);
  });

  test('counts from the last look that has succeeded, in an attempt as well', async () => {
    await offered();
    world.host.inject('repository-gone');
    await world.advance(HOUR_MS / 2);
    const first = check();
    world.host.clear('repository-gone');
    world.operator.want(staged('1.39.0'));
    world.host.inject('no-wave', { forMs: Infinity });
    await world.until(() => reports(world).length === 1);
    world.host.inject('repository-gone');
    const again = world.clock.now();
    world.operator.want({ state: 'Idle', version: '1.39.0' });
    await world.advance(10 * 60_000);
    expect(first?.error).toMatch(/503/);
    expect(Date.parse(check()?.failing_since ?? '')).toBeGreaterThanOrEqual(again);
  });

  test('goes through an update with it, and says at its end whether it can look again', async () => {
    await atRest();
    world.host.inject('repository-gone');
    await world.advance(HOUR_MS);
    world.host.clear('repository-gone');
    world.releases.publish({ version: '1.39.0' });
    await world.until(() => world.updated);
    await world.advance(HOUR_MS);
    expect(check()).toBeUndefined();
  });
});
