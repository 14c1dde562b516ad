import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { App } from 'cdk8s';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrupopChart, PeopleRoles } from '../../infra/index.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import {
  CONTROLLER_DEPLOYMENT,
  GROUP,
  HOLD_ANNOTATION,
  NAMESPACE,
  PAUSED_ANNOTATION,
  PLURAL,
  UPDATE_NOW_ANNOTATION,
} from '../../runtime/api/shadow/names.ts';
import { examples } from '../documents.ts';
import { shell } from '../shell.ts';
import { certificatesIssued } from './cert-manager.ts';
import { comesTrue } from './come-true.ts';
import { asLeaderSays } from './leader-says.ts';
import { guard, guardOf, relaxGuard } from './guard.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, isCordoned, updating, verdict } from './looks.ts';
import { operatorRuns } from './operator.ts';
import { type Deeds, type Past, type Plan, Plugin, type Status, type Verdicts } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';
import { elsewhere, nobodyLeads, partsGone, reported, twoOperators, whileHalted } from './worst-moments.ts';

/** `kubectl brupop` beside a rollout: what people see of it and tell it, and what was foreseen against what then happens. */

const NODES = ['node-1', 'node-2', 'node-3', 'node-4'];
/** What people give to others as rights. */
const GROUPS = {
  view: ['--as', 'vera', '--as-group', 'viewers'],
  operate: ['--as', 'olaf', '--as-group', 'operators'],
};
const SHUT = [{ start: '0 0 1 1 *', duration: '1m' }];

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

/** The policy of all nodes. @returns its file */
async function policy(name: string, spec: object): Promise<string> {
  const object = {
    apiVersion: POLICY_API_VERSION,
    kind: POLICY_KIND,
    metadata: { name: 'all' },
    // More than half of an update is this and the hosts' own time: a busy machine makes neither longer.
    spec: { nodeSelector: {}, maxConcurrent: 2, maxFailed: 'unlimited', nodeSoak: '45s', ...spec },
  };
  const file = join(stage.cluster.dir, name);
  await writeFile(file, JSON.stringify(object));
  return file;
}

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.startCertManager();
  const app = new App({ outdir: join(stage.cluster.dir, 'synthesised') });
  const chart = new BrupopChart(app, 'operator', {
    agent: { updateCheckIntervalInSec: 20 },
    controller: { maxConcurrentUpdate: 2 },
  });
  new PeopleRoles(chart, 'People', { brupop: chart.brupop });
  app.synth();
  await kubectl('apply', '--server-side', '-f', app.outdir);
  for (const [role, [, , , group = '']] of Object.entries(GROUPS))
    await kubectl('create', 'clusterrolebinding', group, '--clusterrole', `brupop-${role}`, '--group', group);
  await kubectl('apply', '-f', await policy('shut.json', { windows: SHUT }));
  await certificatesIssued();
  scene = await stage.startFleet({ nodes: NODES.length, speed: 4 });
  await operatorRuns(scene);
  await scene.until((history) => NODES.every((node) => verdict(history, node)?.reason === 'OutsideWindow'));
}, 240_000);

afterAll(() => stage.strike(), 60_000);

const annotationsOf = (node: string) => scene.history.nodes.get(node)?.metadata.annotations ?? {};

test('kubectl finds the plug-in, and completes commands and the names of nodes and policies', async () => {
  expect((await plugin.kubectl('plugin', 'list')).out).toContain('/kubectl-brupop\n');
  expect(await plugin.run('--version')).toMatchObject({ code: 0, out: expect.stringMatching(/^kubectl-brupop \d/) });
  const offered = async (...words: readonly string[]) => (await plugin.kubectl('__complete', 'brupop', ...words)).out;
  expect(await offered('le')).toMatch(/^leftovers\t.*\n:4\n$/);
  expect(await offered('hold', 'node-1', 'node-')).toBe(`${NODES.join('\n')}\n:4\n`);
  expect(await offered('pause', '')).toBe('all\n:4\n');
});

test('a fleet before its window is seen as tables and as JSON', async () => {
  const status = await plugin.run('status');
  expect(status).toMatchObject({ code: 0, err: '' });
  expect(status.out).toMatch(/^fleet +0\/4 .* 0 +4 +0/m);
  expect(status.out).toMatch(/^ +4 {2}node-1, node-2, node-3 and 1 more {2}OutsideWindow: /m);
  expect(await plugin.json(['status'])).toMatchObject({ counts: { nodes: 4, waiting: 4 }, notKnown: [] });
  expect(await plugin.watched(['status', '-w'], 'OutsideWindow')).toBe(130);
  expect(await plugin.watched(['dashboard', '--no-open'], 'Ctrl-C ends it.')).toBe(130);
  const why = await plugin.json<Verdicts>(['why']);
  expect(why.nodes.map(({ node, reason }) => `${node} ${reason}`)).toEqual(
    NODES.map((node) => `${node} OutsideWindow`),
  );
  expect((await plugin.run('why', 'node-2')).out).toMatch(/^node-2 +OutsideWindow/m);
  expect((await plugin.run('plan')).out).toMatch(/^NOTHING WOULD START\n\nOTHERS\n +node-1 +OutsideWindow/);
  expect(await plugin.json(['plan'])).toMatchObject({ starts: [], drainsThatCannotEnd: [] });
  expect(await plugin.run('leftovers')).toEqual({ code: 0, out: '', err: '' });
  expect(await plugin.json(['leftovers'])).toMatchObject({ leftovers: [] });
});

test('why says what the leader says on /plan, and the same once it is killed', () => asLeaderSays(scene, plugin));

test('doctor finds a sound operator sound', async () => {
  const { findings } = await plugin.json<{ findings: readonly { state: string; check: string; says: string }[] }>(
    ['doctor'],
    [0, 3],
  );
  // Nothing outside is reached here.
  const unread = { check: 'repositories', state: 'unknown', says: expect.stringContaining('no answer (') };
  expect(findings.filter(({ state }) => state !== 'ok')).toEqual([expect.objectContaining(unread)]);
  const checks =
    'parts versions leader nodes agents definitions webhook certificates clocks policies repositories'.split(' ');
  expect(new Set(findings.map(({ check }) => check))).toEqual(new Set([...checks, 'your rights']));
  expect(await plugin.run('doctor')).toMatchObject({ code: 0, out: expect.stringMatching(/^ok {2}leader: /m) });
});

test('brupop-view may run every command that reads and none that writes, brupop-operate both', async () => {
  for (const who of Object.values(GROUPS)) {
    for (const command of ['status', 'why', 'plan', 'history', 'leftovers', 'timeline'])
      expect(await plugin.json([command, ...(command === 'timeline' ? ['node-1'] : []), ...who])).not.toMatchObject({
        // The leader may be asked only by who is bound to brupop-plan besides.
        notKnown: expect.arrayContaining([expect.not.stringMatching(/^the leader's own plan: you may not ask it/)]),
      });
  }
  for (const deed of [['pause'], ['pause', 'all'], ['hold', 'node-1'], ['now', 'node-1']]) {
    const refused = await plugin.run(...deed, ...GROUPS.view);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/may not do that \(403\): .*vera/) });
    expect(await plugin.run(...deed, '--dry-run', ...GROUPS.operate)).toMatchObject({ code: 0, err: '' });
  }
  expect(annotationsOf('node-1')).not.toHaveProperty([HOLD_ANNOTATION]);
});

test('a namespace without the operator is not paused, and what undoes a pause is for the same user', () =>
  elsewhere(plugin, GROUPS.operate));

test('pause and resume, hold and unhold say what they did, and do it', async () => {
  const home = async () => (await kubectl('get', 'namespace', NAMESPACE, '-o', 'json')).stdout;
  expect((await plugin.run('pause', '--by', 'ann')).out).toMatch(
    /^the fleet: is paused.*\n +undo: kubectl brupop resume$/m,
  );
  expect(await home()).toMatch(new RegExp(`"${PAUSED_ANNOTATION}": "20\\S+Z ann"`));
  await scene.until((history) => verdict(history, 'node-1')?.reason === 'Paused');
  expect(await plugin.json(['resume'])).toMatchObject({ done: [{ object: 'the fleet', changed: true }] });
  expect(await home()).not.toContain(PAUSED_ANNOTATION);
  expect(await plugin.json(['pause', 'all'])).toMatchObject({ done: [{ object: 'policy all', changed: true }] });
  expect((await kubectl('get', 'bup', 'all', '-o', 'jsonpath={.spec.paused}')).stdout).toBe('true');
  expect((await plugin.run('resume', 'all')).code).toBe(0);
  expect((await plugin.json<Deeds>(['hold', 'node-3', 'node-4'])).done.map(({ object }) => object)).toEqual([
    'node node-3',
    'node node-4',
  ]);
  await scene.until((history) => verdict(history, 'node-4')?.reason === 'Held');
  expect(await plugin.run('unhold', 'node-3', 'node-4')).toMatchObject({ code: 0, err: '' });
  await scene.until((history) => verdict(history, 'node-4')?.reason === 'OutsideWindow');
});

test('now updates one node outside of its window, and timeline tells of that with who asked', async () => {
  expect(await plugin.run('now', 'node-2', '--by', 'ann: CVE')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^node node-2: comes next to be updated to 1\.39\.0\n {2}undo: kubectl annotate/),
  });
  await scene.until((history) => updating(history) === 'node-2');
  await comesTrue(async () => {
    const { updating: all } = await plugin.json<Status>(['status']);
    return all.some(({ node }) => node === 'node-2');
  });
  await scene.until((history) => atRest(history, '1.39.0').includes('node-2'));
  expect(annotationsOf('node-2')).not.toHaveProperty([UPDATE_NOW_ANNOTATION]);
  // Events come a moment later.
  await comesTrue(async () => {
    const { moments } = await plugin.json<Past>(['timeline', 'node-2']);
    const said = moments.map(({ reason, message }) => `${reason} ${message}`).join('\n');
    return (
      /^UpdateStarted .*ann: CVE/m.test(said) && ['DrainFinished', 'UpdateFinished'].every((one) => said.includes(one))
    );
  });
  expect((await plugin.run('timeline', 'node-2')).out).toMatch(/^\S+Z {2}Node node-2 {2}DrainFinished: /m);
  expect(await plugin.run('timeline', 'nobody')).toMatchObject({ code: 1, err: 'the cluster has no node nobody\n' });
}, 240_000);

test('a drain that cannot end is named before it begins and while it waits, and retry ends the pause after a failure', async () => {
  const { cluster, fleet, until } = scene;
  await guard(cluster, 'node-1');
  fleet.nodes.get('node-1')?.host.inject('boot');
  await comesTrue(async () => {
    const { drainsThatCannotEnd } = await plugin.json<Plan>(['plan']);
    return drainsThatCannotEnd.some(({ node, pod }) => node === 'node-1' && pod.endsWith(guardOf('node-1')));
  });
  await plugin.run('now', 'node-1');
  await until((history) => verdict(history, 'node-1')?.reason === 'DrainBlocked');
  await comesTrue(async () => {
    const { updating: all } = await plugin.json<Status>(['status']);
    return all.some(({ node, blockedBy }) => node === 'node-1' && String(blockedBy).includes(guardOf('node-1')));
  });
  expect((await plugin.run('status')).out.replaceAll(/\s+/g, ' ')).toMatch(
    /NEEDS YOU node-1 DrainBlocked: .*guard-node-1/,
  );
  expect((await plugin.run('retry', 'node-1')).code).toBe(1);
  await relaxGuard('node-1');
  await until((history) => verdict(history, 'node-1')?.reason === 'BackingOff');
  fleet.nodes.get('node-1')?.host.clear('boot');
  expect((await plugin.run('history')).out).toMatch(
    /^\S+Z {2}BottlerocketShadow brs-node-1 {2}(Update)?Failed: .*BootFailed: /m,
  );
  expect(await plugin.run('retry', 'node-1')).toMatchObject({
    code: 0,
    out: expect.stringContaining('pauses no longer'),
  });
  await until((history) => verdict(history, 'node-1')?.reason === 'OutsideWindow');
}, 240_000);

test('a release that is halted is named with who failed on it, everywhere, until somebody takes that back', async () => {
  await kubectl('apply', '-f', await policy('strict.json', { windows: SHUT, maxFailed: 1 }));
  await whileHalted(plugin);
  await kubectl('apply', '-f', await policy('shut.json', { windows: SHUT }));
});

test('report writes one file with what is known, and no secret', () =>
  reported(plugin, join(stage.cluster.dir, 'report.json')));

test('the rollout that plan foresees is the one that then happens: the same order, and its end within a fifth', async () => {
  const open = await policy('open.json', { windows: [] });
  const foreseen = await plugin.json<Plan>(['plan', '--until-done', '-f', open]);
  const begunMs = systemClock.now();
  await kubectl('apply', '-f', open);
  const starts: string[] = [];
  await scene.until(({ shadows }) => {
    for (const { metadata, spec } of shadows.values())
      if (spec.state !== 'Idle' && !starts.includes(metadata.name)) starts.push(metadata.name);
    return NODES.every((node) => atRest(scene.history, '1.39.0').includes(node));
  });
  const took = systemClock.now() - begunMs;
  const expected = Date.parse(foreseen.endsAt) - Date.parse(foreseen.at);
  expect(foreseen.isDurationAssumed).toBe(false);
  // Who starts in one plan starts at once, and the API server takes their writes in any order.
  const groups = Map.groupBy(foreseen.starts, ({ at }) => at);
  for (const group of groups.values())
    expect(starts.splice(0, group.length).toSorted()).toEqual(group.map(({ node }) => `brs-${node}`).toSorted());
  expect(starts).toEqual([]);
  // On cores that others use too. In virtual time test/cli/plan asks for a tenth.
  expect(Math.abs(took - expected)).toBeLessThan(0.2 * expected);
  expect(await invariants(scene, { concurrency: 2 })).toEqual([]);
}, 300_000);

test('what a controller has left behind is listed and released, and nothing else', async () => {
  await kubectl('scale', '-n', NAMESPACE, `deployment/${CONTROLLER_DEPLOYMENT}`, '--replicas=0');
  await kubectl(
    'wait',
    '-n',
    NAMESPACE,
    '--for=delete',
    'pod',
    '-l',
    'brupop.bottlerocket.aws/component=brupop-controller',
  );
  const marks = JSON.stringify({ id: 'm', since: '2026-01-01T00:00:00Z', boot: null, owns: ['cordon'] });
  await kubectl('annotate', 'node', 'node-3', `${MARKS_ANNOTATION}=${marks}`);
  await kubectl('cordon', 'node-3');
  await kubectl('cordon', 'node-4');
  expect((await plugin.run('leftovers')).out).toMatch(
    /^node-3 +ours +cordon, since 2026-\S+\nnode-4 +unknown +cordoned/,
  );
  const released = await plugin.run('release', 'node-3', 'node-4');
  expect(released).toEqual({
    code: 1,
    out: expect.stringMatching(
      /^node node-3: is cleaned up: cordon undone\n +undo: kubectl cordon node-3\nnode node-4: it is/,
    ),
    err: '',
  });
  await scene.until((history) => !isCordoned(history, 'node-3'));
  expect(isCordoned(scene.history, 'node-4')).toBe(true);
});

test('doctor says which parts are gone, that nobody leads and that the webhook does not answer, and ends with 3', () =>
  partsGone(plugin));

test('where nobody has led for days, everything says so first, and nothing is called well', () => nobodyLeads(plugin));

test('of two operators, who changes something is asked which one is meant', () => twoOperators(plugin));

test('the documented wait for conversion goes on meanwhile, though a list may still come out of a cache', async () => {
  const waits = examples('docs/security.md', 'sh').filter(([, commands]) => commands.includes(`${PLURAL}.v1.${GROUP}`));
  const { kubeconfig, dir: home } = stage.cluster;
  const asked = waits.map(([, commands]) => shell(commands.replace('sleep 5', 'exit 9'), { kubeconfig, home }));
  expect((await Promise.all(asked)).map(({ code }) => code)).toEqual([9]);
});
