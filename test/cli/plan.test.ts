import { afterEach, describe, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { overridesOf } from '../../runtime/cli/commands/plan.ts';
import { placed, stuckOn } from '../../runtime/cli/forecast/drains.ts';
import { forecastFrom } from '../../runtime/cli/forecast/forecast.ts';
import { inspect } from '../../runtime/cli/inspect.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { COMMANDS } from '../../runtime/cli/program.ts';
import type { ShadowObject } from '../../runtime/api/resources.ts';
import type { Pod } from '../../runtime/kube/objects.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { POLICY_API_VERSION, POLICY_KIND } from '../../runtime/api/policy/names.ts';
import { HOLD_ANNOTATION, LAST_UPDATE_ANNOTATION, NAMESPACE, shadowName } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { folder } from '../folder.ts';
import { definePolicies, policyNamed } from '../policies.ts';
import { deploy, requestOn, seenOn } from './deployed.ts';
import { Reached } from './served.ts';

/** A rollout ahead of time, and what is tried out without being written. */

let stage: Stage;
afterEach(() => stage.end());

const took = (name: string, seconds: number): Promise<unknown> =>
  stage.shadows.patch(shadowName(name), { metadata: { annotations: { [LAST_UPDATE_ANNOTATION]: String(seconds) } } });

const STEP_MS = 30_000;
/** By the state that is wanted. Together they are what the last updates took, shared out in another way than a forecast does. */
const WORK_MS: Readonly<Record<string, number>> = { StagedAndPerformedUpdate: 90_000, RebootedIntoUpdate: 270_000 };

interface Real {
  readonly starts: { readonly node: string; readonly at: number }[];
  /** When the last agent did something. */
  endsAt: number;
  /** By node and wanted state, since when it is wanted. */
  readonly asked: Map<string, number>;
}

const isAtRest = ({ spec, status }: ShadowObject): boolean => spec.state === 'Idle' && status?.current_state === 'Idle';

async function act({ metadata, spec, status }: ShadowObject, real: Real): Promise<void> {
  const node = metadata.name.replace('brs-', '');
  const now = stage.clock.now();
  if (!real.starts.some((one) => one.node === node)) real.starts.push({ node, at: now });
  const key = `${node} ${spec.state}`;
  const since = real.asked.get(key) ?? now;
  real.asked.set(key, since);
  if (status?.current_state === spec.state || now - since < (WORK_MS[spec.state] ?? 0)) return;
  const version = spec.state === 'RebootedIntoUpdate' && { current_version: '1.1.0' };
  await stage.report(node, { current_state: spec.state, ...version });
  real.endsAt = now;
}

/** Agents that take their time, until nothing is left to do: who started when, and when the last one was at rest. */
async function happened(names: readonly string[]): Promise<Real> {
  const real: Real = { starts: [], endsAt: 0, asked: new Map() };
  for (let step = 0; step < 400; step++) {
    await stage.pass(STEP_MS);
    const shadows = await stage.shadows.list();
    const moving = shadows.filter((shadow) => !isAtRest(shadow));
    if (moving.length === 0 && real.starts.length === names.length) break;
    for (const shadow of moving) await act(shadow, real);
  }
  return real;
}

test('a rollout that is foreseen is the one that then happens: the same order, and its end within a tenth', async () => {
  const names = ['a', 'b', 'c', 'd'];
  stage = await Stage.with(...names);
  await definePolicies(stage, {
    all: { nodeSelector: {}, windows: [{ start: '30 * * * *', duration: '20m' }], maxConcurrent: 2, nodeSoak: '60s' },
  });
  for (const name of names) await took(name, 420);
  await deploy(stage, { MAX_CONCURRENT_UPDATE: '2', PROOF_NODES: '1' });
  const begun = stage.clock.now();
  const foreseen = forecastFrom(await seenOn(stage));
  const real = await happened(names);
  expect(foreseen.left).toEqual([]);
  expect(foreseen.starts.map(({ node }) => node)).toEqual(real.starts.map(({ node }) => node));
  expect(Math.abs(foreseen.endsAt - real.endsAt)).toBeLessThan(0.1 * (real.endsAt - begun));
  for (const [index, { at }] of foreseen.starts.entries())
    expect(Math.abs(at - real.starts[index]!.at)).toBeLessThan(0.1 * (real.endsAt - begun));
});

test('nothing is written by it, and who is not updated in the end is said, with why', async () => {
  stage = await Stage.with('a', 'b');
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 2 * * * *' });
  await stage.patchNode('b', { metadata: { annotations: { [HOLD_ANNOTATION]: '' } } });
  await stage.pass();
  const before = await stage.specs('a', 'b');
  const foreseen = forecastFrom(await seenOn(stage));
  expect(foreseen).toMatchObject({ isDurationAssumed: true, mostAtOnce: 1, isCut: false });
  expect(foreseen.starts).toMatchObject([{ node: 'a', version: '1.1.0', at: Date.parse('2026-01-01T02:00:00Z') }]);
  expect(foreseen.left).toMatchObject([{ node: 'b', reason: 'Held' }]);
  expect(await stage.specs('a', 'b')).toEqual(before);
});

test('nodes that wait prepare their update meanwhile, where their agents do that', async () => {
  stage = await Stage.with('a', 'b', 'c');
  for (const name of ['a', 'b', 'c']) await took(name, 600);
  await deploy(stage);
  const takesMs = async (): Promise<number> => forecastFrom(await seenOn(stage)).endsAt - stage.clock.now();
  const inTurn = await takesMs();
  for (const name of ['a', 'b', 'c']) await stage.report(name, { staged: {} });
  const ahead = await takesMs();
  expect(inTurn).toBeGreaterThanOrEqual(3 * 600_000);
  // Of an update, the download is 40 %.
  expect((inTurn - ahead) / (2 * 240_000)).toBeCloseTo(1, 1);
});

test('an update that is under way is carried on from where it stands', async () => {
  stage = await Stage.with('a', 'b');
  await took('a', 600);
  await deploy(stage);
  await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
  await stage.pass();
  await stage.mark('a', { drained: true });
  const foreseen = forecastFrom(await seenOn(stage));
  expect(foreseen.starts.map(({ node }) => node)).toEqual(['b']);
  expect(foreseen.left).toEqual([]);
});

describe('what is tried out', () => {
  test('is a policy in place of that of its name, and settings of the controller', async () => {
    stage = await Stage.with('a', 'b', 'c');
    await definePolicies(stage, { all: { nodeSelector: {}, paused: true } });
    await deploy(stage, { MAX_CONCURRENT_UPDATE: '1' });
    // Nothing starts under a policy that was just made.
    await stage.pass(31_000);
    const file = join(folder, 'policy.yaml');
    await writeFile(
      file,
      `---\n${JSON.stringify(policyNamed('all', { nodeSelector: {}, maxConcurrent: 'unlimited' }))}\n---\n`,
    );
    const startsWith = async (files: readonly string[], settings: readonly string[]) => {
      const seen = await inspect(
        { transport: stage.transport, namespace: NAMESPACE },
        stage.clock.now(),
        await overridesOf(files, settings),
      );
      return seen.plan.commands.flatMap((command) => (command.kind === 'start' ? [command.node] : []));
    };
    expect(await startsWith([], [])).toEqual([]);
    expect(await startsWith([file], [])).toEqual(['a']);
    expect(await startsWith([file], ['MAX_CONCURRENT_UPDATE=2'])).toEqual(['a', 'b']);
  });

  test.each([
    ['kind: Pod', /expected brupop.bottlerocket.aws\/v1alpha1 BottlerocketUpdatePolicy, got undefined Pod/],
    ['a: [', /yaml: /],
    [JSON.stringify({ apiVersion: POLICY_API_VERSION, kind: POLICY_KIND, metadata: null }), /a policy with a name/],
  ])('%s is refused as no policy', async (text, said) => {
    stage = await Stage.with();
    const file = join(folder, 'policy.yaml');
    await writeFile(file, text);
    await expect(overridesOf([file], [])).rejects.toThrow(said);
    await expect(overridesOf([], ['X'])).rejects.toThrow('expected VARIABLE=VALUE, got X');
  });
});

test('a drain that cannot end is named with its pod and budget, and what a drain leaves alone is not', async () => {
  stage = await Stage.with();
  const labels = { app: 'web' };
  const pod = (name: string, nodeName: string, more: object = {}): Pod => ({
    metadata: { name, namespace: 'shop', uid: name, resourceVersion: '1', labels, ...more },
    spec: { nodeName },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const daemon = {
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true }],
  };
  const budget = {
    metadata: { name: 'web', namespace: 'shop', uid: 'b', resourceVersion: '1' },
    spec: { selector: { matchLabels: labels } },
    status: { disruptionsAllowed: 0, desiredHealthy: 1, expectedPods: 1, currentHealthy: 1 },
  };
  const pods = [pod('web-1', 'a'), pod('web-2', 'other'), pod('log', 'a', daemon)].map(placed);
  const terms = {
    namespace: NAMESPACE,
    lateAfter: Date.parse('2026-01-01T00:00:00Z'),
    returning: new Set<string>(),
    overdue: { from: Infinity, to: -Infinity },
  };
  expect(stuckOn(new Set(['a']), { pods, budgets: [budget] }, terms)).toEqual([
    { node: 'a', pod: 'shop/web-1', because: 'PodDisruptionBudget shop/web' },
  ]);
});

test('pods that finish before the drain of a node that is ahead are named, and for how long at most', async () => {
  stage = await Stage.with('a', 'b');
  await definePolicies(stage, {
    all: { nodeSelector: {}, drain: { waitFor: { matchLabels: { app: 'batch' } }, upTo: '6h' } },
  });
  await deploy(stage);
  await stage.create('/api/v1/namespaces', { metadata: { name: 'shop' } });
  for (const [name, app] of Object.entries({ job: 'batch', web: 'web' }))
    await stage.create('/api/v1/namespaces/shop/pods', {
      metadata: { name, labels: { app } },
      spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i' }] },
    });
  const plan = COMMANDS.find(({ name }) => name === 'plan')!;
  const answer = await plan.run(requestOn(stage));
  expect(answer.value).toMatchObject({ drainsThatLetFinish: [{ node: 'a', pods: ['shop/job'], upToSeconds: 21_600 }] });
  expect(answer.lines(PLAIN).join('\n')).toMatch(/PODS THAT FINISH BEFORE THE DRAIN OF\n +a +shop\/job +for 6 h/);
});

test('plan and plan --until-done are told as tables and as JSON, at any time', async () => {
  stage = await Stage.at(systemClock.now() - 60_000, 'a', 'b');
  await deploy(stage, { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' });
  const reached = await Reached.of(stage.cluster);
  try {
    const now = await reached.run('plan');
    expect(now).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringMatching(/^NOTHING WOULD START\n\nOTHERS\n +a +Outside/),
    });
    const all = await reached.run('plan', '--until-done', '--set', 'SCHEDULER_CRON_EXPRESSION=* * * * * * *');
    expect(all.out).toMatch(/^STARTS\n\S+Z +a +1\.1\.0 +takes (10|9) min.*\n\S+Z +b +1\.1\.0 +takes (10|9) min/);
    expect(all.out.replaceAll(/\s+/g, ' ')).toContain('2 updates, 1 at once at most; over at');
    const then = await reached.json<{ starts: object[] }>('plan', '--at', '2099-01-01T00:00:00Z');
    expect(then.starts).toEqual([{ node: 'a', version: '1.1.0' }]);
    expect((await reached.run('plan', '--at', 'noon')).code).toBe(2);
  } finally {
    await reached.close();
  }
});
