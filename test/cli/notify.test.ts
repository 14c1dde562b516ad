import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { notify } from '../../runtime/cli/commands/notify.ts';
import { BrupopChart, PeopleRoles } from '../../infra/index.ts';
import type { delivered } from '../../runtime/controller/telling/notifications/delivery.ts';
import { notificationsOf } from '../../runtime/controller/telling/notifications/notifications.ts';
import { configMapsPath } from '../../runtime/kube/resources.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { NOTIFICATIONS_STATE } from '../../runtime/api/notifications/names.ts';
import { TEST_ANNOTATION } from '../../runtime/api/notifications/test.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';
import { until } from '../in-time.ts';
import { bind, createRole, deployContainer, requestOn } from './deployed.ts';
import { Reached } from './served.ts';

/** `kubectl brupop notify test`, with a controller at work that notifies. */

const USER = { username: 'ann', groups: ['system:authenticated'] };

let stage: Stage;
let reached: Reached;
/** What was told, each as `target message`. */
let told: string[];
let stop: AbortController;

const send: typeof delivered = (fact, { target }) => {
  told.push(`${target.name} ${fact.kind} ${fact.message}`);
  const why = 'it answers 404';
  return Promise.resolve(target.name === 'pager' ? { kind: 'refused', why } : { kind: 'accepted', status: 202 });
};

const state = async (): Promise<{ metadata: { annotations?: Readonly<Record<string, string>> } } | undefined> =>
  stage.transport
    .request({ method: 'GET', path: `${configMapsPath(NAMESPACE)}/${NOTIFICATIONS_STATE}` })
    .then((found) => found as { metadata: object })
    .catch(() => undefined);

beforeEach(async () => {
  [told, stop] = [[], new AbortController()];
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000);
  await deployContainer(stage, { name: 'brupop', image: 'x' });
  const targets = ['chat', 'pager'].map((name) => ({ name, format: 'slack', kinds: ['RolloutHalted'] }));
  await writeFile(join(folder, 'config.json'), JSON.stringify({ cluster: 'c', targets }));
  let watches = 0;
  const env = { NOTIFICATIONS_DIR: folder };
  stage.start({
    env,
    signal: stop.signal,
    notifierOf: (parts) => {
      const watch: typeof parts.watch = (signal) => {
        watches += 1;
        return parts.watch(signal);
      };
      return notificationsOf({ ...parts, watch }, send);
    },
  });
  await Promise.all([stage.pass(3000), setImmediate()]);
  await until('the controller watches', () => watches > 0);
  await stage.pass(1000);
  reached = await Reached.of(stage.cluster);
});
afterEach(async () => {
  await reached.close();
  await stage.end();
});

test('each target is told, whatever it asks for, and what became of it is said, once', async () => {
  expect(await reached.run('notify', 'test', '--by', 'ann')).toEqual({
    code: 1,
    out: 'chat: accepted, it answers 202\npager: not accepted, it answers 404\n',
    err: '',
  });
  const message = 'Test a test of notifications, asked for by ann';
  expect(told).toEqual([`chat ${message}`, `pager ${message}`]);
  const { code, out } = await reached.run('notify', 'test', 'chat', 'nobody', '-o', 'json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    dryRun: false,
    targets: [
      { target: 'chat', accepted: true, says: 'it answers 202' },
      { target: 'nobody', accepted: false, says: 'there is no such target' },
    ],
  });
  expect(told).toHaveLength(3);
  expect((await state())?.metadata.annotations ?? {}).toEqual({});
});

test('with --dry-run nothing is told and nothing is written, and what makes no sense is refused', async () => {
  const before = await state();
  expect(await reached.run('notify', 'test', '--dry-run')).toMatchObject({
    code: 0,
    out: expect.stringMatching('Nothing was written'),
  });
  expect([told, await state()]).toEqual([[], before]);
  expect((await reached.run('notify', 'tset')).code).toBe(2);
});

test('who may operate may ask where somebody is notified, and the controller may answer by its own role', async () => {
  const app = new App();
  const target = { name: 'chat', secret: 's', format: 'slack' } as const;
  const chart = new BrupopChart(app, 'brupop', { notifications: { targets: [target] } });
  const { operate } = new PeopleRoles(chart, 'People', { brupop: chart.brupop });
  expect(await reached.as(USER, 'notify', 'test')).toMatchObject({ code: 1, err: expect.stringMatching(/403/) });
  await createRole(stage, operate.toJson() as object);
  await bind(stage, { kind: 'User', name: USER.username }, 'brupop-operate');
  expect(await reached.as(USER, 'notify', 'test', 'chat')).toMatchObject({ code: 0 });
});

test('where no controller answers, that is said, and nobody is told later', async () => {
  stop.abort();
  await stage.pass(1000);
  const refused = expect(notify.run(requestOn(stage, ['test']))).rejects.toThrow(
    /no controller has answered within 30 s/,
  );
  await stage.pass(31_000);
  await refused;
  expect((await state())?.metadata.annotations ?? {}).not.toHaveProperty([TEST_ANNOTATION]);
});
