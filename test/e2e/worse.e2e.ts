import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { APISERVER_DEPLOYMENT } from '../../infra/names.ts';
import { RELEASE_SHORT_NAME, releaseObjectName } from '../../runtime/api/release/names.ts';
import type { ReleaseResource } from '../../runtime/api/resources.ts';
import { NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { familyOf } from '../../runtime/api/shadow/semver.ts';
import { isReady, type Pod } from '../../runtime/kube/objects.ts';
import { policyNamed } from '../policies.ts';
import { CRASHES_ANNOTATION } from './controlplane/stages.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { leftByUpdates, untilBare } from './left.ts';
import { isCordoned, isMarked, podsOn, shadowOf, updating, verdict, versionOf } from './looks.ts';
import { Plugin } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';
import { leftOnNodes, takeAway } from './taking-away.ts';
import { toldOf } from './told.ts';
import { pause } from './undoing.ts';

/** A release that boots, and on which the pods of one DaemonSet crash: what people are told, how far it goes, and what ends that. */

const POLICY = 'all';
const PROBE = 'probe';
const BAD = '1.39.0';
const NODES = 6;
const PROVING = 1;
/** So many nodes may fail on what is not proven, besides those that are to prove it. */
const SPARE = 2;
/** As old as the apiserver takes pods and conditions for beyond their age: the five minutes that they have before they are judged, and more. */
const OLDER_MS = 330_000;
const OLDER = `
  const { parse } = JSON;
  const older = (_, key, at) => JSON.stringify(key) + ':"' + new Date(Date.parse(at) - ${OLDER_MS}).toISOString() + '"';
  const read = (text) => String(text).replace(/"(creationTimestamp|lastTransitionTime)":"([^"]+)"/g, older);
  JSON.parse = (text, ...more) => parse(read(text), ...more);`;

let stage: Stage;
let scene: Scene;
let plugin: Plugin;

const change = (spec: object): Promise<unknown> =>
  kubectl('patch', 'bup', POLICY, '--type=merge', '-p', JSON.stringify({ spec }));

function probe(): object {
  const labels = { app: PROBE };
  const containers = [{ name: PROBE, image: 'example.com/probe:1' }];
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name: PROBE, namespace: 'default' }, spec };
}

/** Names of the nodes that run it, in whichever state. */
const runningBad = ({ nodes }: History): readonly string[] =>
  [...nodes].flatMap(([name, node]) => (versionOf(node) === BAD ? name : []));

/** Those that run it, or are on their way to it in a reboot: before anybody looks at their pods. */
const broken = (history: History): readonly string[] =>
  [...history.nodes].flatMap(([name, node]) =>
    versionOf(node) === BAD || (isMarked(history, name) && !isReady(node)) ? name : [],
  );

const soundProbes = (history: History): readonly Pod[] =>
  broken(history)
    .flatMap((node) => podsOn(history, node))
    .filter(
      ({ metadata: { labels, annotations } }) =>
        labels?.['app'] === PROBE && annotations?.[CRASHES_ANNOTATION] === undefined,
    );

/** As if the release did it: from now on its pods crash on each node that runs it. Ends with the stage. */
async function breakProbes(): Promise<never> {
  for (;;) {
    const pods = await scene.until((history) => {
      const sound = soundProbes(history);
      return sound.length > 0 && sound.map(({ metadata: { name } }) => `pod/${name}`);
    });
    await kubectl('annotate', ...pods, `${CRASHES_ANNOTATION}=`, '--overwrite');
  }
}

async function ledger(): Promise<ReleaseResource> {
  const [node] = scene.history.nodes.values();
  const name = releaseObjectName({ family: node ? familyOf(node) : '', version: BAD });
  return JSON.parse((await kubectl('get', RELEASE_SHORT_NAME, name, '-o', 'json')).stdout) as ReleaseResource;
}

const why = async (node: string): Promise<string> => (await plugin.run('why', node)).out;
const saidOf = (node: string): string => verdict(scene.history, node)?.message ?? '';
/** All of them here, and none of the others. */
const WORSE = new RegExp(
  `(\\d) of \\1 pods of DaemonSet default/${PROBE} crash again and again on nodes of this version, 0 of \\d elsewhere`,
);

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator(await stage.manifestsWith({ MAX_CONCURRENT_UPDATE: 'unlimited' }));
  const older = `NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(OLDER)}`;
  await kubectl('set', 'env', '-n', NAMESPACE, `deployment/${APISERVER_DEPLOYMENT}`, older);
  // Nothing but its proof keeps it from all nodes.
  const unlimited = { maxConcurrent: 'unlimited', maxFailed: 'unlimited' };
  const proof = { nodes: PROVING, soak: '1h' };
  await apply(probe(), policyNamed(POLICY, { nodeSelector: {}, ...unlimited, proof }));
  scene = await stage.startFleet({ nodes: NODES });
  void breakProbes().catch(() => undefined);
}, 150_000);

afterAll(() => stage.strike(), 60_000);

/** That the release is halted, and which nodes have failed on it, wherever people look. */
async function saidToPeople(halted: RegExp): Promise<void> {
  await kubectl('wait', 'bup', POLICY, '--for=condition=Halted', '--timeout=60s');
  await kubectl('wait', 'bup', POLICY, `--for=jsonpath={.status.nodes.failed}=${PROVING + SPARE}`, '--timeout=60s');
  await toldOf({ kind: POLICY_KIND, name: POLICY }, 'RolloutHalted', BAD);
  const { metadata, status } = await ledger();
  const failures = Object.values(status?.failures ?? {}).map(({ node, reason }) => `${node} ${reason}`);
  expect(failures.toSorted()).toEqual(
    runningBad(scene.history)
      .map((node) => `${node} WorkloadsWorse`)
      .toSorted(),
  );
  expect((await kubectl('get', RELEASE_SHORT_NAME)).stdout).toMatch(new RegExp(`^${metadata.name} .*Halted`, 'm'));
  const { out } = await plugin.run('releases', BAD);
  for (const node of runningBad(scene.history)) expect(out).toMatch(new RegExp(`failed: ${node} +WorkloadsWorse `));
  expect((await plugin.run('plan')).out).toMatch(new RegExp(`^NEEDS YOU: ${halted.source}`));
  const { fleet } = (await plugin.page()).sections;
  expect(fleet.needsYou).toContainEqual(
    expect.objectContaining({ title: 'Release halted', text: expect.stringMatching(halted) }),
  );
}

test('pods that are worse on the node that is to prove a release are told of, and by default no more', async () => {
  const canary = await scene.until((history) =>
    [...history.nodes.keys()].find((node) => verdict(history, node)?.message.includes('WorkloadsWorse')),
  );
  expect(runningBad(scene.history)).toEqual([canary]);
  expect(saidOf(canary)).toMatch(WORSE);
  await toldOf(
    { kind: 'Node', name: canary },
    'WorkloadsWorse',
    `On ${BAD}: 1 of 1 pods of DaemonSet default/${PROBE}`,
  );
  expect(await why(canary)).toMatch(WORSE);
  expect(shadowOf(scene.history, canary)?.status?.workloads).toMatchObject({ version: BAD });
  const { nodes } = await plugin.page();
  expect(nodes.find(({ name }) => name === canary)?.message).toMatch(WORSE);
  expect((await plugin.run('plan')).out).toMatch(new RegExp(`Unproven +${BAD} is yet to be proven by ${canary}`));
  const { status } = await ledger();
  expect([status?.state, status?.failures ?? {}]).toEqual(['Proving', {}]);
}, 120_000);

test('with compare: fail the nodes have failed on it, and it is halted after as many as may fail on what is not proven', async () => {
  await change({ proof: { compare: 'fail' } });
  const waiting = await scene.until((history) => {
    const halted = [...history.nodes.keys()].filter((node) => verdict(history, node)?.reason === 'RolloutHalted');
    return halted.length === NODES - PROVING - SPARE && halted;
  });
  expect(leftByUpdates(scene.history)).toEqual([]);
  const failed = runningBad(scene.history).toSorted();
  expect(failed).toHaveLength(PROVING + SPARE);
  expect([...failed, ...waiting].toSorted()).toEqual([...scene.history.nodes.keys()].toSorted());
  await saidToPeople(new RegExp(`${BAD} .* is halted for policy ${POLICY}: .*${failed.join(', ')} WorkloadsWorse`));
  for (const node of failed) {
    expect(verdict(scene.history, node)).toMatchObject({
      reason: 'WorkloadsWorse',
      message: expect.stringMatching(WORSE),
    });
    expect(await why(node)).toMatch(WORSE);
    await toldOf(
      { kind: 'BottlerocketShadow', name: shadowName(node) },
      'WorkloadsWorse',
      `pods of DaemonSet default/${PROBE}`,
    );
  }
}, 120_000);

test('allow lets the next one try it, a pause leaves no trace of that on a node, and clear takes the failures back', async () => {
  expect(await plugin.run('allow', BAD)).toMatchObject({ code: 0 });
  await scene.until((history) => updating(history) !== undefined);
  await pause.say();
  await untilBare(scene);
  expect(await plugin.run('leftovers')).toEqual({ code: 0, out: '', err: '' });
  const { status: before } = await ledger();
  // The one that tries it may have failed by now, too.
  const failed = Object.keys(before?.failures ?? {}).toSorted();
  expect(failed.length).toBeGreaterThanOrEqual(PROVING + SPARE);
  expect(await plugin.run('clear', BAD)).toMatchObject({ code: 0 });
  const { status } = await ledger();
  expect(status?.failures).toEqual({});
  expect(Object.keys(status?.cleared ?? {}).toSorted()).toEqual(failed);
  await kubectl('wait', 'bup', POLICY, '--for=condition=Halted=False', '--timeout=60s');
  await pause.takeBack();
}, 120_000);

test('nothing that must hold was broken until then', async () => {
  expect(await invariants(scene, { concurrency: NODES })).toEqual([]);
}, 60_000);

test('without the policy it goes on, and who takes the operator away meanwhile finds nothing of it on any node', async () => {
  await kubectl('delete', 'bup', POLICY);
  await scene.until((history) => [...history.nodes.keys()].some((node) => isCordoned(history, node)));
  await takeAway(stage.cluster);
  expect(await leftOnNodes()).toEqual([]);
}, 180_000);
