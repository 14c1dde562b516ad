import { beforeEach, describe, expect, test } from '@jest/globals';
import { ControllerMetrics } from '../../runtime/controller/telling/metrics.ts';
import type { Plan } from '../../runtime/controller/plan/plan.ts';
import type { NodeView } from '../../runtime/controller/plan/facts/snapshot.ts';
import type { Verdict } from '../../runtime/controller/plan/facts/verdict.ts';
import { Reporter } from '../../runtime/controller/telling/reporter.ts';
import type { EventRecord } from '../../runtime/kube/event-recorder.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { settle, VirtualClock } from '../../lab/sim/clock.ts';
import { EMPTY, type Ledger } from '../../runtime/api/release/ledger.ts';
import {
  fleet,
  ledgerObject,
  MARKS,
  minutes,
  moment,
  node,
  NOW,
  POLICY,
  rebooting,
  snapshot,
  underRules,
  type World,
} from './plan/fleet.ts';

let reporter: Reporter;
let metrics: ControllerMetrics;
let events: EventRecord[];
/** What becomes of Events: true = the API server takes them. */
let answer: Promise<boolean>;

beforeEach(() => {
  metrics = new ControllerMetrics();
  events = [];
  answer = Promise.resolve(true);
  const record = (event: EventRecord): Promise<boolean> => {
    events.push(event);
    return answer;
  };
  const clock = Object.assign(new VirtualClock(), { now: () => NOW });
  const written = { events: { record, recordNow: record }, metrics, logger: silentLogger };
  reporter = new Reporter({ ...written, clock, namespace: NAMESPACE, agentTimeoutMs: 15 * 60_000 });
});

const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', name: 'l' };

/** The reasons of the Events that follow a plan. */
async function seen(parts: Partial<Plan>, more: Partial<World> = {}): Promise<readonly string[]> {
  const before = events.length;
  const plan = {
    commands: [],
    verdicts: [],
    halted: [],
    offered: [],
    warnings: [],
    policies: [],
    releases: [],
    ledger: [],
    ...parts,
  };
  reporter.report({ plan, snapshot: underRules(snapshot(more), POLICY), lease });
  await settle();
  return events.slice(before).map(({ reason }) => reason);
}

const release = { family: 'aws-k8s-1.33/amd64', version: '1.1.0', because: 'Nodes', failures: 1, failed: [] } as const;
const halted = { halted: [release], offered: [release] };
const resumed = { offered: [release] };
const warned = { warnings: [{ reason: 'OnlySchedulableNode', message: 'x' } as const] };
const missing: [Partial<Plan>, Partial<World>] = [
  { verdicts: [{ node: 'a', reason: 'AgentMissing', message: 'x' }] },
  { nodes: [node('a')], silentSince: new Map([['a', minutes(-16)]]) },
];

describe('a halt', () => {
  test('and its end are told once each', async () => {
    expect([await seen(halted), await seen(halted)]).toEqual([['RolloutHalted'], []]);
    expect([await seen(resumed), await seen(resumed)]).toEqual([['RolloutResumed'], []]);
    expect(await seen(halted)).toEqual(['RolloutHalted']);
    expect(new Set(events.map(({ regarding }) => regarding))).toEqual(new Set([lease]));
  });

  test('does not end with the offer, and is not told as ended', async () => {
    expect([await seen(halted), await seen({}), await seen(halted)]).toEqual([['RolloutHalted'], [], []]);
    expect([await seen({}), await seen(resumed)]).toEqual([[], ['RolloutResumed']]);
  });
});

describe('a window', () => {
  const window = (open: boolean, triggeredAt?: number) => ({ window: { open, triggeredAt, changesAt: undefined } });

  test('that opens and closes is told, and what it was at the beginning is not', async () => {
    expect(await seen({}, window(false))).toEqual([]);
    expect([await seen({}, window(true)), await seen({}, window(true))]).toEqual([['WindowOpened'], []]);
    expect(await seen({}, window(false))).toEqual(['WindowClosed']);
  });

  test('of a moment is told each time', async () => {
    expect(await seen({}, window(false, minutes(-60)))).toEqual([]);
    expect([await seen({}, window(false, NOW)), await seen({}, window(false, NOW))]).toEqual([['WindowOpened'], []]);
  });
});

test('a warning is told once for as long as it stands', async () => {
  expect([await seen(warned), await seen(warned)]).toEqual([['OnlySchedulableNode'], []]);
  expect([await seen({}), await seen(warned)]).toEqual([[], ['OnlySchedulableNode']]);
});

test('marks that nobody can read are told once of each Node, while they stand and once their rest is noted', async () => {
  const marks = { ...MARKS, id: '', unknown: ['unreadable'] };
  const on = (one: Partial<NodeView>): Promise<readonly string[]> => seen({}, { nodes: [node('a', one)] });
  expect([await on({ marks }), await on({ unreleased: 'taint, unreadable' })]).toEqual([['MarksUnreadable'], []]);
  expect([await on({}), await on({ marks: { ...MARKS, unknown: ['taint'] } })]).toEqual([[], []]);
});

test('an agent is missed once of each Node, whether agents come and go', async () => {
  const [plan, now] = missing;
  expect(await seen(plan, { ...now, silentSince: new Map([['a', minutes(-14)]]) })).toEqual([]);
  expect([await seen(...missing), await seen({}, now), await seen(...missing)]).toEqual([['AgentMissing'], [], []]);
  expect(await seen(plan, { ...now, nodes: [node('a', { uid: 'another' })] })).toEqual(['AgentMissing']);
});

describe('what the API server does not take', () => {
  test.each<[string, [Partial<Plan>, Partial<World>?], readonly string[]]>([
    ['a halt', [halted], ['RolloutHalted']],
    ['a warning', [warned], ['OnlySchedulableNode']],
    ['a missing agent', missing, ['AgentMissing']],
  ])('is told with the next plan: %s', async (_what, plan, reasons) => {
    answer = Promise.resolve(false);
    expect(await seen(...plan)).toEqual(reasons);
    answer = Promise.resolve(true);
    expect([await seen(...plan), await seen(...plan)]).toEqual([reasons, []]);
  });

  test('is told with the next plan: the end of a halt', async () => {
    await seen(halted);
    answer = Promise.resolve(false);
    expect(await seen(resumed)).toEqual(['RolloutResumed']);
    answer = Promise.resolve(true);
    expect([await seen(resumed), await seen(resumed)]).toEqual([['RolloutResumed'], []]);
  });

  test('is not told once more before it has answered, and not where it stands no longer', async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    answer = promise;
    expect([await seen(halted), await seen(halted)]).toEqual([['RolloutHalted'], []]);
    answer = Promise.resolve(true);
    expect(await seen(resumed)).toEqual(['RolloutResumed']);
    resolve(false);
    expect(await seen(resumed)).toEqual([]);
  });
});

describe('a node that did not come back well', () => {
  const on = (reason: 'NotReturned' | 'SoakFailed'): Partial<Plan> => ({
    verdicts: [{ node: 'a', reason, message: 'x' } satisfies Verdict],
  });
  const down = (since = -20, conditions: object[] = []): Partial<World> =>
    fleet(
      { a: { ...rebooting, status: { ...rebooting.status, conditions: conditions as [] } } },
      { nodes: [node('a', { ready: false, readyChangedAt: minutes(since) })] },
    );
  const counted = async (): Promise<string | undefined> =>
    /setbacks_total\{reason="NotReturned"\} (\d+)/.exec(await metrics.registry.metrics())?.[1];

  test('is told and counted when the verdict changes to that, and each time that it goes down', async () => {
    expect([await seen(on('NotReturned'), down()), await seen(on('NotReturned'), down())]).toEqual([
      ['NotReturned'],
      [],
    ]);
    expect([await seen({}, down()), await seen(on('NotReturned'), down(-1))]).toEqual([[], ['NotReturned']]);
    expect(await seen(on('SoakFailed'), down(-1))).toEqual(['SoakFailed']);
    expect(await counted()).toBe('2');
    expect(new Set(events.map(({ occasion }) => occasion)).size).toBe(3);
  });

  test('is neither where the condition says that the process before knew', async () => {
    const known = [{ type: 'UpToDate', status: 'False', reason: 'NotReturned', message: 'x', lastTransitionTime: '' }];
    expect([await seen(on('NotReturned'), down(-20, known)), await counted()]).toEqual([[], '0']);
    expect(await seen(on('NotReturned'), down())).toEqual([]);
  });

  test('is counted once where its Event is not taken', async () => {
    answer = Promise.resolve(false);
    expect([await seen(on('NotReturned'), down()), await seen(on('NotReturned'), down())]).toEqual([
      ['NotReturned'],
      [],
    ]);
    expect(await counted()).toBe('1');
  });
});

test('people are told once that a release is out, when its ledger comes to say so', async () => {
  const write = (isThere: boolean): Partial<Plan> => {
    const published = { firstSeenAt: moment(0), repositories: [] };
    const ledger: Ledger = { ...EMPTY, state: 'Published', published };
    const name = { family: release.family, version: '1.2.0' };
    return { ledger: [{ ...name, name: 'x', ledger, seen: isThere ? ledgerObject(name, ledger) : undefined }] };
  };
  expect(await seen(write(false))).toEqual(['ReleasePublished']);
  expect(await seen(write(false))).toEqual([]);
  expect(await seen({})).toEqual([]);
  expect(await seen(write(true))).toEqual([]);
});
