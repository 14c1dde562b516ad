import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '../../runtime/lib/clock.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { auditOf } from './audit.ts';
import { guard, relaxGuard } from './guard.ts';
import { invariants } from './invariants.ts';
import { kubectl } from './kubectl.ts';
import { atRest, isCordoned, isMarked, shadowOf, updating, verdict, versionOf } from './looks.ts';
import { type Scene, Stage } from './scene.ts';

/** After one failure. */
const FIRST_PAUSE_MS = 120_000;

let stage: Stage;
let scene: Scene;
/** Nodes whose turn is over, in order. */
const past: string[] = [];

beforeAll(async () => {
  stage = await Stage.set();
  await stage.installOperator();
  scene = await stage.startFleet({ nodes: 5 });
});

afterAll(() => stage.strike(), 60_000);

/** The node that updates next. */
async function next(): Promise<string> {
  const node = await scene.until((history) => updating(history, past));
  past.push(node);
  return node;
}

/** The same, once its guard blocks its drain. */
async function nextBlocked(): Promise<string> {
  const node = await next();
  await scene.until((history) => verdict(history, node)?.reason === 'DrainBlocked');
  return node;
}

test('a node that does not boot the release says so, is given back, and the others go on', async () => {
  const { history, fleet, until, options, cluster } = scene;
  const node = await next();
  fleet.nodes.get(node)?.host.inject('boot');
  // In time: a drain can be over before somebody who saw it begin has put a guard there.
  for (const other of history.nodes.keys()) if (other !== node) await guard(cluster, other);
  await until(() => verdict(history, node)?.reason === 'BackingOff');
  expect(shadowOf(history, node)?.status).toMatchObject({
    current_version: options.from,
    crash_count: 1,
    last_failure: { reason: 'BootFailed', version: options.to },
    failed_versions: [options.to],
  });
  await until(() => !isMarked(history, node) && !isCordoned(history, node));
});

test('a node that is deleted in the middle of its drain takes its shadow along and frees its permit', async () => {
  const { history, fleet, until } = scene;
  const node = await nextBlocked();
  // Before anything is deleted: it waits for the node's processes to end, and the tokens of pods that are gone are refused.
  await fleet.powerOff(node);
  await kubectl('delete', 'node', node);
  // As the machine's owner does: until then its pods count as disrupted, and their budgets let no others go.
  await kubectl('delete', 'pods', '-A', '--field-selector', `spec.nodeName=${node}`, '--grace-period=0', '--force');
  await until(() => shadowOf(history, node) === undefined);
  await until(() => updating(history, past));
});

test('a shadow that is deleted in the middle of a reboot comes back, and its node ends up to date and in service', async () => {
  const { history, fleet, until, options } = scene;
  const node = await nextBlocked();
  await relaxGuard(node);
  const uid = shadowOf(history, node)?.metadata.uid;
  await until(() => fleet.reboots.some((reboot) => reboot.node === node));
  await kubectl('delete', 'bottlerocketshadow', shadowName(node), '-n', NAMESPACE);
  await until(() => shadowOf(history, node) === undefined);
  await until(() => atRest(history, options.to).includes(node));
  expect(shadowOf(history, node)?.metadata.uid).not.toBe(uid);
});

test('a node whose label is taken away in the middle of its drain is given back, and joins again with the label', async () => {
  const { history, until, options } = scene;
  const node = await nextBlocked();
  await kubectl('label', 'node', node, `${MANAGED_LABEL}-`);
  await until(() => shadowOf(history, node) === undefined && !isMarked(history, node) && !isCordoned(history, node));
  expect(versionOf(history.nodes.get(node))).toBe(options.from);
  // Of the last node too, whose turn has come.
  for (const { metadata } of history.nodes.values()) if (metadata.name !== past[0]) await relaxGuard(metadata.name);
  await kubectl('label', 'node', node, `${MANAGED_LABEL}=${MANAGED_LABEL_VALUE}`);
  await until(() => atRest(history, options.to).includes(node));
});

test('the node that failed tries again after its pause', async () => {
  const { history, fleet, until, options } = scene;
  const [node = ''] = past;
  const failedAt = shadowOf(history, node)?.status?.state_transition_failure_timestamp ?? '';
  fleet.nodes.get(node)?.host.clear('boot');
  await until(() => shadowOf(history, node)?.spec.state !== 'Idle');
  expect(systemClock.now() - Date.parse(failedAt)).toBeGreaterThan(FIRST_PAUSE_MS);
  await until(() => atRest(history, options.to).length === 4);
  const { crash_count, failed_versions } = shadowOf(history, node)?.status ?? {};
  expect([crash_count, failed_versions ?? []]).toEqual([0, []]);
}, 200_000);

test('nothing that must hold was broken meanwhile, and no eviction was cut off half-way', async () => {
  expect(await invariants(scene)).toEqual([]);
  const evictions = (await auditOf(stage.cluster)).filter(({ objectRef }) => objectRef?.subresource === 'eviction');
  expect(evictions.filter(({ responseStatus }) => responseStatus?.code === 504)).toEqual([]);
});
