import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { verdict } from './looks.ts';
import { Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';

/** A release that no machine boots, and a group that replaces each machine which does not come back. */

const SPARE = 'node-5';

let stage: Stage;
let scene: Scene;
let plugin: Plugin;
let lost: string;

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator(
    await stage.manifestsWith({ MAX_CONCURRENT_UPDATE: 'unlimited', MAX_FAILED_UPDATE: '1' }),
  );
  scene = await stage.startFleet({ nodes: 5, spares: 1 });
  for (const { host } of scene.fleet.nodes.values()) host.inject('no-return');
});

afterAll(() => stage.strike(), 60_000);

test('the first machine that is lost halts the release, and its replacement waits as the others do', async () => {
  const { fleet, until } = scene;
  const down = Promise.withResolvers<string>();
  for (const [name, { host }] of fleet.nodes) host.observe({ onDown: () => down.resolve(name) });
  lost = await down.promise;
  await fleet.powerOff(lost);
  await kubectl('delete', 'node', lost);
  await kubectl('delete', 'pods', '-A', '--field-selector', `spec.nodeName=${lost}`, '--grace-period=0', '--force');
  fleet.powerOn(SPARE);
  const halted = (history: Scene['history']): boolean =>
    history.nodes.size === 4 &&
    [...history.nodes.keys()].every((node) => verdict(history, node)?.reason === 'RolloutHalted');
  await until(halted);
  expect(fleet.reboots.map(({ node }) => node)).toEqual([lost]);
}, 120_000);

test('kubectl and the plug-in name the release, the machine and what became of it', async () => {
  const { stdout } = await kubectl('get', 'brr', '-o', 'wide');
  expect(stdout).toContain(`${lost} (Gone)`);
  expect((await plugin.run('releases')).out).toMatch(new RegExp(`^ +failed: ${lost} +Gone `, 'm'));
  expect((await plugin.run('why', SPARE)).out).toContain(
    `is halted: too many nodes failed on it (1 may): ${lost} Gone.`,
  );
  expect(await invariants(scene)).toEqual([]);
});
