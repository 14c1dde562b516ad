import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { PolicyReport } from '../../runtime/controller/plan/answer/report.ts';
import type { PolicyView } from '../../runtime/controller/plan/facts/policies.ts';
import { PolicyStatusWriter } from '../../runtime/controller/writing/policy-status-writer.ts';
import { type UpdatePolicyObject, policiesOf } from '../../runtime/api/resources.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { POLICY_PLURAL } from '../../runtime/api/policy/names.ts';
import { policyCrdSchema } from '../../runtime/api/policy/schema.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, type Disturbance, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { policyNamed } from '../policies.ts';
import { policyCrd } from '../policy-crd.ts';
import { seeded } from '../random.ts';
import { ruling } from './plan/fleet.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const random = seeded();
let clock: VirtualClock;
let cluster: EmbeddedCluster;
let writer: PolicyStatusWriter;
let stop: AbortController;
let ended: Promise<void>;
const policies = () => policiesOf(cluster.transport(ADMIN));
const writes = (name?: string): number =>
  cluster.audit.filter((entry) => entry.subresource === 'status' && (name === undefined || entry.name === name)).length;

/** As many nodes wait. */
const report = ({ metadata: { name, uid } }: UpdatePolicyObject, waiting: number): PolicyReport => ({
  name,
  uid,
  generation: 1,
  nodes: { selected: waiting, upToDate: 0, updating: 0, waiting, failed: 0 },
  releases: [],
  accepted: { status: 'True', reason: 'Valid', message: '' },
  progressing: { status: 'True', reason: 'Waiting', message: '' },
  halted: { status: 'False', reason: 'NotHalted', message: '' },
  deadline: undefined,
  late: undefined,
  passedOver: [],
  nextChangeAt: undefined,
});

function viewOf({ metadata, status }: UpdatePolicyObject): PolicyView {
  const view = ruling(metadata.name, {});
  const { uid, resourceVersion } = metadata;
  return { ...view, resource: { uid, resourceVersion, generation: 1, status: status ?? undefined } };
}

/** What a plan on these policies says, as they are now or as an old cache has them. */
async function plan(waiting: number, seen?: readonly UpdatePolicyObject[]): Promise<void> {
  const all = seen ?? (await policies().list());
  const reports = all.map((one) => report(one, waiting));
  writer.replace(reports, { policies: all.map(viewOf) }, clock.now());
  await clock.advance(0);
}
const waitingOf = async (name: string): Promise<number | undefined> =>
  (await policies().get(name))?.status?.nodes?.waiting;

async function start(names: readonly string[], schema?: object): Promise<void> {
  clock = new VirtualClock();
  cluster = new EmbeddedCluster({ clock, random });
  await cluster.transport(ADMIN).request({ method: 'POST', path: CRDS, body: policyCrd(schema) });
  for (const name of names) await policies().create(policyNamed(name, { nodeSelector: {} }));
  writer = new PolicyStatusWriter({ policies: policies(), clock, random, logger: silentLogger });
  stop = new AbortController();
  ended = writer.run(stop.signal);
}
beforeEach(() => start(['a', 'b']));
afterEach(async () => {
  stop.abort();
  await clock.advance(0);
  await ended;
});

test('a status is written when it changes, once in five seconds, and the last write has the latest facts', async () => {
  for (let waiting = 100; waiting > 0; waiting--) {
    await plan(waiting);
    await clock.advance(200);
  }
  expect(writes('a')).toBe(5);
  await clock.advance(5000);
  expect([await waitingOf('a'), await waitingOf('b')]).toEqual([1, 1]);
  const before = writes();
  for (let minute = 0; minute < 60; minute++) {
    await plan(1);
    await clock.advance(60_000);
  }
  expect(writes()).toBe(before);
});

test('a cache that does not show a write yet brings no other: its stamps would be of an older status', async () => {
  const old = await policies().list();
  await plan(1, old);
  await clock.advance(60_000);
  const before = writes();
  await plan(2, old);
  await clock.advance(60_000);
  expect(writes()).toBe(before);
  await plan(2);
  expect(await waitingOf('a')).toBe(2);
});

const TROUBLES: Readonly<Record<string, Disturbance>> = {
  'a right that is missing': { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'no' },
  'a kind that is gone': { kind: 'refuse', code: 404, reason: 'NotFound', message: 'no' },
  'a webhook that is out': { kind: 'refuse', code: 500, reason: 'InternalError', message: 'no' },
  'an answer that never comes': { kind: 'hang' },
  'somebody who writes it all the time': { kind: 'refuse', code: 409, reason: 'Conflict', message: 'no' },
};

test.each(Object.entries(TROUBLES))(
  '%s costs few requests, holds up no other policy, and is over within minutes of its end',
  async (what, disturbance) => {
    const end = cluster.disturb({ resource: POLICY_PLURAL, subresource: 'status', name: 'a' }, disturbance);
    for (let second = 0; second < 3600; second += 10) {
      await plan(second);
      await clock.advance(10_000);
    }
    expect(writes('a')).toBeLessThan(what.startsWith('somebody') ? 800 : 25);
    expect(await waitingOf('b')).toBe(3590);
    end();
    await clock.advance(400_000);
    await plan(7);
    await clock.advance(10_000);
    expect(await waitingOf('a')).toBe(7);
  },
);

test('a definition that drops what is written is not written to without end', async () => {
  const schema = policyCrdSchema() as { properties: { status: { properties: Record<string, unknown> } } };
  const dropping = structuredClone(schema);
  delete dropping.properties.status.properties['nodes'];
  stop.abort();
  await start(['a'], dropping);
  for (let second = 0; second < 3600; second += 10) {
    await plan(1);
    await clock.advance(10_000);
  }
  expect(writes('a')).toBeLessThan(25);
});

test('what a former leader had left to write is written by nobody', async () => {
  const end = cluster.disturb(
    { resource: POLICY_PLURAL, subresource: 'status' },
    { kind: 'refuse', code: 500, reason: 'InternalError', message: 'no' },
  );
  await plan(1);
  stop.abort();
  await ended;
  end();
  const before = writes();
  stop = new AbortController();
  ended = writer.run(stop.signal);
  await clock.advance(600_000);
  expect(writes()).toBe(before);
});
