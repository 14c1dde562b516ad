import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { nodeNameOf } from '../../runtime/api/shadow/names.ts';
import { readySince } from '../../runtime/kube/objects.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { policyNamed } from '../policies.ts';
import { comesTrue } from './come-true.ts';
import type { History } from './history.ts';
import { invariants } from './invariants.ts';
import { apply, kubectl } from './kubectl.ts';
import { leftByUpdates } from './left.ts';
import { atRest, shadowOf, verdict } from './looks.ts';
import { type Plan, Plugin, type Verdicts } from './plugin.ts';
import { type Scene, Stage } from './scene.ts';
import { toldOf } from './told.ts';
import { pause } from './undoing.ts';

/** A proven release that goes to twice as many nodes at once as run it well, within what its policy lets update at once. */

const NODES = Array.from({ length: 7 }, (_, index) => `node-${index + 1}`);
const POLICY = 'all';
const TO = '1.39.0';
const [WIDEN, MOST, SOAK_SEC] = [2, 3, 3];

let stage: Stage;
let scene: Scene;
let plugin: Plugin;
/** As the policy says. */
let widen: number | undefined = WIDEN;
/** Starts for which there was no place. */
const crowds: string[] = [];

const change = (spec: object): Promise<unknown> =>
  kubectl('patch', 'bup', POLICY, '--type=merge', '-p', JSON.stringify({ spec }));

const underWay = ({ shadows }: History): readonly string[] =>
  [...shadows.values()].flatMap(({ metadata, spec }) =>
    spec.state === 'Idle' ? [] : (nodeNameOf(metadata.name) ?? []),
  );

/** Names of those that have been Ready on the release for the soak, by what kubelets say. */
function wellOnes(history: History): readonly string[] {
  const since = systemClock.now() - SOAK_SEC * 1000;
  return atRest(history, TO).filter((name) => {
    const node = history.nodes.get(name);
    return node !== undefined && (readySince(node) ?? Infinity) <= since;
  });
}

/** Notes each start by the watch, for as long as the stage stands. */
function noteCrowds(): void {
  let before = 0;
  void scene.history.until((history) => {
    const now = underWay(history);
    const well = wellOnes(history);
    const places = widen === undefined ? MOST : Math.min(MOST, Math.max(1, widen * well.length));
    if (now.length > before && now.length > places) crowds.push(`${now.join()} beside ${well.join()}`);
    before = now.length;
    return false;
  });
}

/** Resolves with the names of so many that say this to who asks why, once they do: conditions of these say no more than that others come first. */
async function untilSay(reason: string, count: number): Promise<readonly string[]> {
  let names: readonly string[] = [];
  await comesTrue(async () => {
    const { nodes } = await plugin.json<Verdicts>(['why']);
    names = nodes.filter((one) => one.reason === reason).map(({ node }) => node);
    return names.length === count;
  });
  return names;
}
const untilMonitored = (count: number): Promise<unknown> =>
  scene.until((history) => {
    const states = NODES.map((node) => shadowOf(history, node)?.status?.current_state);
    return (
      states.filter((state) => state === 'MonitoringUpdate').length === count && underWay(history).length === count
    );
  });

beforeAll(async () => {
  stage = await Stage.set();
  plugin = await Plugin.installed(stage.cluster.dir);
  await stage.installOperator(await stage.manifestsWith({ MAX_CONCURRENT_UPDATE: 'unlimited' }));
  const proof = { nodes: 1, soak: `${SOAK_SEC}s`, widen: WIDEN };
  await apply(policyNamed(POLICY, { nodeSelector: {}, maxConcurrent: MOST, proof }));
  scene = await stage.startFleet({ nodes: NODES.length });
  noteCrowds();
}, 120_000);

afterAll(() => stage.strike(), 60_000);

test('beside one that runs it well two are on their way, and the others say why they wait', async () => {
  await scene.until((history) => atRest(history, TO).length === 1);
  // Those that come next stay on their way.
  await change({ nodeSoak: '1h' });
  await untilMonitored(2);
  const waiting = await untilSay('Widening', 4);
  // The condition of a node is written only where it changes, and who comes next changes all the time.
  expect(waiting.map((node) => verdict(scene.history, node)?.message)).toEqual(
    waiting.map(() => 'other nodes come first'),
  );
  const says = `Widening  ${TO} goes to 2 at once, and to more as more nodes run it well`;
  expect((await plugin.run('why', waiting[0] ?? '')).out).toContain(says);
  const { out } = await plugin.run('plan');
  for (const line of ['NOTHING WOULD START', ...waiting.map((node) => `${node}  ${says}`)]) expect(out).toContain(line);
  const { starts } = await plugin.json<Plan>(['plan', '--until-done']);
  expect(starts.map(({ node }) => node).toSorted()).toEqual(waiting);
  const { sections, nodes } = await plugin.page();
  expect(sections.policies).toMatchObject([{ says: expect.stringContaining(says.replace('Widening  ', '')) }]);
  expect(nodes.flatMap(({ name, reason }) => (reason === 'Widening' ? name : []))).toEqual(waiting);
  const told = `goes to 2 at once, and to more as more nodes run it well (1 now); maxConcurrent is ${MOST}`;
  await toldOf({ kind: POLICY_KIND, name: POLICY }, 'Widening', told);
}, 120_000);

test('a pause keeps them where they are, and without widening the policy fills up', async () => {
  await pause.say();
  await untilSay('Paused', 4);
  expect(leftByUpdates(scene.history)).toEqual([]);
  await pause.takeBack();
  await untilSay('Widening', 4);
  widen = undefined;
  await change({ proof: { widen: null } });
  await untilMonitored(3);
  await untilSay('WaitingForSlot', 3);
}, 120_000);

test('widening again it goes to all, never to more at once than it may', async () => {
  await change({ proof: { widen: WIDEN }, nodeSoak: null });
  widen = WIDEN;
  await scene.rolledOver();
  expect(crowds).toEqual([]);
  expect(await invariants(scene, { concurrency: MOST })).toEqual([]);
}, 120_000);
