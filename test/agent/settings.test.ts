import { describe, expect, test } from '@jest/globals';
import { parseSettings } from '../../runtime/agent/hosts/bottlerocket/settings.ts';
import type { UpdateSettings } from '../../runtime/api/shadow/model.ts';
import { build, offered, world } from './stage.ts';

const HOUR_MS = 3_600_000;
const told = (): UpdateSettings | null | undefined => world.operator.status.update_settings;
const written = (): number => world.operator.log.length;

async function change(updates: object): Promise<void> {
  const body = JSON.stringify({ updates });
  await world.host.handle({ method: 'PATCH', path: '/settings?tx=test', body });
  await world.host.handle({ method: 'POST', path: '/tx/commit_and_apply?tx=test' });
}

describe("a host's settings of updates", () => {
  test('are asked for once after each look, and come with the status of the first one', async () => {
    await offered();
    expect(told()).toMatchObject({
      seed: world.host.settings.updates.seed,
      ignore_waves: false,
      version_lock: 'latest',
      metadata_base_url: 'https://updates.bottlerocket.aws/2020-07-07/aws-k8s-1.33/x86_64/',
    });
    await world.advance(HOUR_MS);
    expect(world.host.requests.get('GET /settings')).toBe(world.asked('refresh-updates'));
  });

  test('cost no write while they stay as they are', async () => {
    await offered();
    const before = written();
    await world.advance(26 * HOUR_MS);
    expect(written()).toBe(before);
  });

  test('that change are told within the hour, and with a status that is written anyway', async () => {
    await offered();
    await change({ 'version-lock': '1.37.0' });
    await world.until(() => world.operator.status.target_version === '1.37.0');
    expect(told()).toMatchObject({ version_lock: '1.37.0' });
    const before = written();
    await change({ seed: 7 });
    await world.advance(HOUR_MS + 150_000);
    expect(told()).toMatchObject({ seed: 7 });
    await change({ seed: 8 });
    await world.advance(HOUR_MS + 150_000);
    expect(told()).toMatchObject({ seed: 8 });
    expect(written() - before).toBe(2);
  });

  test('stay as they were told where the host does not answer, which no look fails for', async () => {
    await offered();
    const before = told();
    world.host.settings.get = () => ({ kind: 'answer', status: 500, body: 'Live datastore missing' });
    await world.advance(HOUR_MS);
    expect(told()).toEqual(before);
    world.host.settings.get = () => ({ kind: 'never' });
    await world.advance(HOUR_MS);
    expect(told()).toEqual(before);
    expect(world.operator.status.check).toBeUndefined();
  });

  test('that are known late are told at once, also where the first telling is not taken', async () => {
    build().operator.holding = true;
    const { settings } = world.host;
    const answers = settings.get.bind(settings);
    settings.get = () => ({ kind: 'never' });
    await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
    expect(told()).toBeUndefined();
    settings.get = answers;
    let refused = false;
    world.operator.answer = (ask) => {
      if (ask !== 'putStatus' || refused) return undefined;
      refused = true;
      return { kind: 'again', message: 'no apiserver' };
    };
    await world.advance(5 * 60_000);
    expect([refused, told()?.version_lock]).toEqual([true, 'latest']);
  });

  test('are told once an hour to a cluster that does not keep them', async () => {
    build({ drops: ['update_settings'] }).operator.holding = true;
    await world.until(() => world.operator.log.at(-1) === 'Idle ->1.39.0');
    let sent = 0;
    world.operator.before = () => void sent++;
    await world.advance(10 * HOUR_MS);
    expect(told()).toBeUndefined();
    expect(sent).toBeGreaterThanOrEqual(9);
    // Each is sent twice: accepted both times for the same shadow, it has changed nothing.
    expect(sent).toBeLessThanOrEqual(2 * 11);
  });

  test('are absent where the host has none', async () => {
    await offered({ driver: 'updog' });
    await world.advance(2 * HOUR_MS);
    expect(told()).toBeUndefined();
  });
});

test('of an answer that makes no sense, what does is kept', () => {
  expect(parseSettings('{"updates":{"seed":-1,"ignore-waves":"yes","version-lock":"latest"}}')).toEqual({
    version_lock: 'latest',
  });
  expect(['', 'null', '{}', '{"updates":[]}', '{"updates":null}'].map(parseSettings)).toEqual([{}, {}, {}, {}, {}]);
});

test('nobody learns a password from the address of a repository', () => {
  const url = 'https://user:secret@mirror.example:8443/metadata/aws-k8s-1.33/x86_64/?token=secret#secret';
  expect(parseSettings(JSON.stringify({ updates: { 'metadata-base-url': url } }))).toEqual({
    metadata_base_url: 'https://mirror.example:8443/metadata/aws-k8s-1.33/x86_64/',
  });
});
