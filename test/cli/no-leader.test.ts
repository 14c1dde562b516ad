import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { shadowsOf, shadowsPath } from '../../runtime/api/resources.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { API_VERSION, CONTROLLER_LEASE, KIND, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { Stage } from '../controller/stage.ts';
import { deployContainer } from './deployed.ts';
import { Reached } from './served.ts';

/** A fleet that was abandoned five days ago: its objects say that all is well, or that an update is next, and nobody acts on them. */

const FIVE_DAYS_MS = 5 * 24 * 3_600_000;

let stage: Stage;
let reached: Reached;
/** When the last controller led. */
let since: string;
let text: string;

beforeEach(async () => {
  stage = await Stage.at(Math.floor(systemClock.now() / 1000) * 1000 - FIVE_DAYS_MS, 'a', 'b');
  await deployContainer(stage, { name: 'brupop', image: 'x' });
  const stopped = new AbortController();
  stage.start({ env: { SCHEDULER_CRON_EXPRESSION: '0 0 0 1 1 * 2099' }, signal: stopped.signal });
  await stage.pass();
  stopped.abort();
  await stage.pass(5000);
  for (const name of ['a', 'b']) {
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/agent-${name}`;
    await stage.transport.request({ method: 'DELETE', path, query: { gracePeriodSeconds: '0' } });
  }
  const lease = await stage.leases.get(CONTROLLER_LEASE);
  since = new Date(lease!.spec!.renewTime!).toISOString().replace('.000Z', 'Z');
  text = `no controller has led since ${since}, agents are missing on 2 of 2 nodes`;
  reached = await Reached.of(stage.cluster);
});
afterEach(async () => {
  await reached.close();
  await stage.end();
});

const noLeader = () => ({ since, agentsMissing: 2, nodes: 2 });
const flat = (out: string): string => out.replaceAll(/\s+/g, ' ');

test('status says that first, and neither that all is well nor when it ends', async () => {
  for (const name of ['a', 'b']) await stage.report(name, { target_version: '1.0.0' });
  const { code, out } = await reached.run('status');
  expect(code).toBe(0);
  expect(flat(out)).toMatch(new RegExp(`^NEEDS YOU ${text}. Nothing starts or goes on: kubectl brupop doctor`));
  expect(out).not.toContain('All nodes');
  expect(await reached.json('status')).toMatchObject({ noLeader: noLeader(), counts: { upToDate: 2 } });
});

test.each(['why', 'why a', 'plan', 'plan --until-done'])('%s begins with that', async (command) => {
  const args = command.split(' ');
  const { code, out } = await reached.run(...args);
  expect(code).toBe(0);
  expect(out.split('\n')[0]).toBe(`NEEDS YOU: ${text}. Nothing starts or goes on: kubectl brupop doctor says more.`);
  expect(await reached.json(...args)).toMatchObject({ noLeader: noLeader() });
});

test('what nobody would act on is foretold to start once, and not to end', async () => {
  const { starts, isCut, left } = await reached.json<Foretold>('plan', '--until-done');
  expect(starts.map(({ node, endsAt }) => `${node} ${endsAt}`)).toEqual(['a undefined']);
  expect(isCut).toBe(false);
  expect(left.map(({ node, reason }) => `${node} ${reason}`)).toEqual(['a WaitingForSlot', 'b AgentSilent']);
});

interface Foretold {
  readonly starts: readonly { readonly node: string; readonly endsAt?: string }[];
  readonly isCut: boolean;
  readonly left: readonly { readonly node: string; readonly reason: string }[];
}

test('another operator is named with the namespace of its shadows', async () => {
  await stage.create('/api/v1/namespaces', { metadata: { name: 'node-updates' } });
  const shadow = { apiVersion: API_VERSION, kind: KIND, metadata: { name: 'brs-a' }, spec: { state: 'Idle' } };
  await shadowsOf(stage.transport, 'node-updates').create(shadow);
  expect((await reached.run('why')).out).toMatch(/^a +OtherOperator +another operator has shadows in node-updates/m);
});

test('nothing is being updated that no controller has given a permit', async () => {
  const { out } = await reached.run('why');
  expect(out).toMatch(/^a +WaitingForSlot +its turn has come, and no controller has given it a permit yet$/m);
  expect(out).not.toContain('Updating');
  await stage.report('b', { current_state: 'StagedAndPerformedUpdate' });
  await stage.patch(`${shadowsPath(NAMESPACE)}/brs-b`, {
    spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' },
  });
  expect((await reached.run('why', 'b')).out).not.toContain('Updating');
  expect(await reached.json('status')).toMatchObject({ counts: { updating: 0, waiting: 2 }, updating: [] });
});

test('the page says it first', async () => {
  const { sections } = await readModel({ transport: stage.transport, namespace: NAMESPACE }, systemClock.now());
  expect(sections.fleet.needsYou[0]).toMatchObject({ title: 'No controller leads', text });
  expect(sections.fleet.counts).toMatchObject({ updating: 0, waiting: 2 });
});

test('whose Lease may not be read is not said to be without a leader', async () => {
  stage.cluster.disturb(
    { resource: 'leases', verbs: ['get'] },
    { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'no leases' },
  );
  expect(await reached.json('status')).toMatchObject({ noLeader: null });
});

test('a Lease that is refused says so in an Event on the Deployment, which status, why and doctor repeat', async () => {
  stage.cluster.disturb(
    { resource: 'leases' },
    { kind: 'refuse', code: 422, reason: 'Invalid', message: 'denied by policy "leases"' },
  );
  await stage.clock.advance(FIVE_DAYS_MS);
  stage.start();
  await stage.pass(5000);
  const why = 'the Lease by which controllers elect a leader is refused: 422 Invalid: denied by policy "leases"';
  expect(await stage.events()).toContainEqual(expect.stringContaining('LeaseRefused'));
  for (const command of ['status', 'why', 'doctor']) expect(flat((await reached.run(command)).out)).toContain(why);
  expect(await reached.json('status')).toMatchObject({ noLeader: { since, why } });
});
