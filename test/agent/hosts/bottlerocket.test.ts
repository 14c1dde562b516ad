import { describe, expect, test } from '@jest/globals';
import {
  HostActionFailedError,
  OfferChangedError,
  OtherImageError,
  UpdateGoneError,
} from '../../../runtime/agent/hosts/errors.ts';
import { rig } from './rig.ts';

describe('the Bottlerocket driver', () => {
  test('takes a host from one version to the next', async () => {
    const { driver, finish, clock } = rig();
    const before = await finish(driver.bootId());
    expect(await finish(driver.os())).toEqual({ version: '1.38.0', variant: 'aws-k8s-1.33', arch: 'x86_64' });
    expect(await finish(driver.status())).toBeUndefined();
    expect((await finish(driver.refresh())).chosen?.version).toBe('1.39.0');
    expect((await finish(driver.prepare('1.39.0'))).staging).toMatchObject({
      image: { version: '1.39.0' },
      nextToBoot: false,
    });
    expect((await finish(driver.activate('1.39.0'))).staging?.nextToBoot).toBe(true);
    await finish(driver.reboot());
    await clock.advance(45_000);
    expect((await finish(driver.os())).version).toBe('1.39.0');
    expect(await finish(driver.bootId())).not.toBe(before);
  });

  test('sees the end of each action within 5 % of its time and 250 ms', async () => {
    const { driver, timed, host } = rig({ times: { refreshMs: 3010, prepareMs: 31_234 } });
    const waits = [
      await timed(driver.refresh()),
      await timed(driver.prepare('1.39.0')),
      await timed(driver.activate('1.39.0')),
      await timed(driver.deactivate()),
    ];
    host.intervals.forEach(({ startMs, endMs }, index) => {
      const late = waits[index]! - (endMs - startMs);
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThanOrEqual(Math.min(0.05 * (endMs - startMs), 250));
    });
  });

  test('downloads nothing over an activation that ended after it was called off, for the host knows how to undo it', async () => {
    const { driver, finish, host, clock } = rig();
    await finish(driver.refresh());
    await finish(driver.prepare('1.39.0'));
    const calledOff = new AbortController();
    const activation = driver.activate('1.39.0', calledOff.signal);
    await clock.advance(100);
    calledOff.abort(new Error('called off'));
    await expect(activation).rejects.toThrow('called off');
    for (const _ of [1, 2]) expect(await finish(driver.deactivate())).toMatchObject({ state: 'Staged' });
    expect(host.requests.get('POST /actions/prepare-update')).toBe(1);
    expect(host.requests.get('POST /actions/deactivate-update')).toBe(1);
  });

  test('still downloads over an activation that was cut off once another has failed at its repository', async () => {
    const { driver, finish, host } = rig();
    await finish(driver.refresh());
    await finish(driver.prepare('1.39.0'));
    host.inject('dispatcher-killed');
    await expect(finish(driver.activate('1.39.0'))).rejects.toMatchObject({ name: 'HostActionLostError' });
    host.inject('repository-gone');
    await expect(finish(driver.activate('1.39.0'))).rejects.toMatchObject({ name: 'HostActionFailedError' });
    await expect(finish(driver.deactivate())).rejects.toMatchObject({ name: 'HostActionFailedError' });
    host.clear('repository-gone');
    host.inject('migration');
    await expect(finish(driver.deactivate())).rejects.toThrow('an activation that was cut off is not undone');
    host.clear('migration');
    await finish(driver.deactivate());
    host.crash();
    await finish(driver.os());
    expect(host.version).toBe('1.38.0');
  });

  test('downloads over an activation that somebody else had begun, though its own end was not seen', async () => {
    const { driver, finish, host, clock, call } = rig();
    await finish(driver.refresh());
    await finish(driver.prepare('1.39.0'));
    host.inject('dispatcher-killed');
    await call('POST /actions/activate-update');
    await clock.advance(30_000);
    const calledOff = new AbortController();
    const activation = driver.activate('1.39.0', calledOff.signal);
    await clock.advance(100);
    calledOff.abort(new Error('called off'));
    await expect(activation).rejects.toThrow('called off');
    await clock.advance(30_000);
    await finish(driver.deactivate());
    expect(host.requests.get('POST /actions/prepare-update')).toBe(2);
  });

  test('downloads nothing over an activation that the host has not begun', async () => {
    const { driver, finish, host } = rig();
    await finish(driver.refresh());
    await finish(driver.prepare('1.39.0'));
    host.inject('reader', { forMs: Infinity });
    await expect(finish(driver.activate('1.39.0'))).rejects.toMatchObject({ name: 'HostBusyError' });
    host.clear('reader');
    expect(await finish(driver.deactivate())).toMatchObject({ state: 'Staged' });
    expect(host.requests.get('POST /actions/prepare-update')).toBe(1);
  });

  test('prepares nothing but the version that was meant', async () => {
    const { driver, finish, releases, host } = rig();
    await finish(driver.refresh());
    await expect(finish(driver.prepare('1.40.0'))).rejects.toThrow(new OfferChangedError('1.40.0', '1.39.0'));
    releases.publish({ version: '1.40.0' });
    await finish(driver.refresh());
    await expect(finish(driver.prepare('1.39.0'))).rejects.toThrow('the host offers 1.40.0');
    releases.withdraw('1.39.0');
    releases.withdraw('1.40.0');
    await finish(driver.refresh());
    await expect(finish(driver.prepare('1.39.0'))).rejects.toThrow('the host offers no update');
    expect(host.requests.has('POST /actions/prepare-update')).toBe(false);
  });

  test('notices that another version was staged because somebody else refreshed in between', async () => {
    const { driver, finish, releases, host, clock, transport } = rig({ times: { refreshMs: 10 } });
    await finish(driver.refresh());
    const plain = transport.request.bind(transport);
    transport.request = async (request) => {
      if (request.path === '/actions/prepare-update') {
        releases.publish({ version: '1.40.0' });
        await host.handle({ method: 'POST', path: '/actions/refresh-updates' });
        await clock.sleep(20);
      }
      return plain(request);
    };
    await expect(finish(driver.prepare('1.39.0'))).rejects.toThrow(new OtherImageError('1.39.0', '1.40.0'));
  });

  test('says so when the chosen update vanishes from the repository', async () => {
    const { driver, finish, releases } = rig();
    await finish(driver.refresh());
    releases.withdraw('1.39.0');
    await expect(finish(driver.prepare('1.39.0'))).rejects.toThrow(new OtherImageError('1.39.0', null));
  });

  test('and when somebody else has the host choose nothing over what is staged', async () => {
    const { driver, finish, releases, transport, host, clock } = rig();
    await finish(driver.refresh());
    await finish(driver.prepare('1.39.0'));
    const plain = transport.request.bind(transport);
    transport.request = async (request) => {
      if (request.path === '/actions/prepare-update') {
        releases.withdraw('1.39.0');
        await host.handle({ method: 'POST', path: '/actions/refresh-updates' });
        await clock.sleep(4000);
      }
      return plain(request);
    };
    await expect(finish(driver.prepare('1.39.0'))).rejects.toThrow(UpdateGoneError);
  });

  test('activates only what is staged, and once', async () => {
    const { driver, finish, host } = rig();
    await expect(finish(driver.activate('1.39.0'))).rejects.toThrow('nothing is staged, not 1.39.0');
    await finish(driver.refresh());
    await finish(driver.prepare('1.39.0'));
    await expect(finish(driver.activate('1.40.0'))).rejects.toThrow(UpdateGoneError);
    await finish(driver.activate('1.39.0'));
    await finish(driver.activate('1.39.0'));
    expect(host.requests.get('POST /actions/activate-update')).toBe(1);
  });

  test('deactivates only what is activated', async () => {
    const { driver, finish, host } = rig();
    expect(await finish(driver.deactivate())).toBeUndefined();
    await finish(driver.refresh());
    expect((await finish(driver.deactivate()))?.state).toBe('Available');
    await finish(driver.prepare('1.39.0'));
    await finish(driver.activate('1.39.0'));
    expect((await finish(driver.deactivate()))?.state).toBe('Staged');
    expect(host.requests.get('POST /actions/deactivate-update')).toBe(1);
  });

  test('prepares again after a failed download', async () => {
    const { driver, finish, host } = rig();
    await finish(driver.refresh());
    host.inject('prepare', { uses: 1 });
    await expect(finish(driver.prepare('1.39.0'))).rejects.toThrow(
      new HostActionFailedError('prepare', 'Starting update to 1.39.0\nFailed to prepare: simulated fault', 1),
    );
    expect((await finish(driver.prepare('1.39.0'))).state).toBe('Staged');
  });

  test('tells its result from an older one of the same kind', async () => {
    const { driver, finish, host, releases } = rig();
    await finish(driver.refresh());
    host.inject('refresh', { uses: 1 });
    await expect(finish(driver.refresh())).rejects.toThrow('refresh failed on the host with exit status 1');
    releases.publish({ version: '1.41.0' });
    expect((await finish(driver.refresh())).chosen?.version).toBe('1.41.0');
  });

  test('stops at once when its signal aborts, and leaves the host to its work', async () => {
    const { driver, clock, host } = rig();
    const stop = new AbortController();
    const work = driver.refresh(stop.signal);
    const failed = expect(work).rejects.toThrow('enough');
    await clock.advance(1500);
    stop.abort(new Error('enough'));
    await failed;
    const asked = host.requests.get('GET /updates/status');
    await clock.advance(10_000);
    expect(host.requests.get('GET /updates/status')).toBe(asked);
    expect(host.intervals).toHaveLength(1);
  });
});
