import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgent } from '../../runtime/agent/agent.ts';
import { clusterView } from '../../runtime/agent/cluster.ts';
import { Bottlerocket } from '../../runtime/agent/hosts/bottlerocket/bottlerocket.ts';
import { type ApiAnswer, type AgentApi, agentApiClient } from '../../runtime/agent/apiserver/client.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { VirtualClock } from '../../lab/sim/clock.ts';
import { ADMIN, EmbeddedCluster } from '../../lab/sim/cluster/cluster.ts';
import { createCa } from '../../lab/sim/cluster/pki.ts';
import { SimulatedHost } from '../../lab/sim/hosts/host.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import { InProcessHostTransport } from '../../lab/sim/hosts/transport.ts';
import { seeded } from '../random.ts';
import { OLDER_CRD, OlderOperator } from './older.ts';
import { folder } from '../folder.ts';

const SERVICE = 'brupop-apiserver.brupop-bottlerocket-aws.svc';
/** What older certificates vouch for. */
const OLDER_NAMES = ['*.brupop-bottlerocket-aws.svc.cluster.local', '*.brupop-bottlerocket-aws.svc'];

let clock: VirtualClock;
let operator: OlderOperator;
let host: SimulatedHost;
const random = seeded(3);
let life: AbortController;
/** Requests over the real wire, for which virtual time stands still. */
let underWay: Set<Promise<ApiAnswer>>;

beforeEach(async () => {
  clock = new VirtualClock();
  life = new AbortController();
  underWay = new Set();
  const transport = new EmbeddedCluster({ clock, random }).transport(ADMIN);
  const post = (path: string, body: object): Promise<unknown> => transport.request({ method: 'POST', path, body });
  await post('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', OLDER_CRD);
  await post('/api/v1/nodes', { metadata: { name: 'n1' } });
  const ca = await createCa(systemClock);
  const { certPem: cert, keyPem: key } = await ca.issue({ commonName: SERVICE, dnsNames: OLDER_NAMES });
  operator = new OlderOperator({ cert, key }, { transport, clock });
  await operator.server.listen();
  await writeFile(join(folder, 'ca.crt'), ca.certPem);
  await writeFile(join(folder, 'token'), 'token-1');
  host = new SimulatedHost({ clock, random, version: '1.38.0', releases: new Releases(['1.38.0', '1.39.0']) });
  let agentLife = new AbortController();
  host.observe({
    onDown: () => agentLife.abort(new Error('killed')),
    onUp: () => {
      agentLife = new AbortController();
      startAgent(transport, AbortSignal.any([agentLife.signal, life.signal]));
    },
  });
  host.start(life.signal);
});
afterEach(async () => {
  life.abort(new Error('over'));
  operator.server.close();
});

function startAgent(transport: KubeTransport, signal: AbortSignal): void {
  const common = { clock, random, logger: silentLogger };
  const agent = createAgent({
    ...common,
    ...clusterView({ ...common, transport, namespace: NAMESPACE, nodeName: 'n1' }),
    host: new Bottlerocket({
      ...common,
      transport: new InProcessHostTransport({ host, clock }),
      readBootId: async () => host.boot?.id ?? '',
    }),
    api: overTheWire(),
    times: { lbWaitMs: 30_000, checkIntervalMs: 120_000 },
  });
  agent.run(signal).catch(() => undefined);
}

/** The agent's own client, whose requests are known while they are under way. */
function overTheWire(): AgentApi {
  const files = { caPath: join(folder, 'ca.crt'), tokenPath: join(folder, 'token') };
  const client = agentApiClient({ host: '127.0.0.1', port: operator.port, servername: SERVICE, clock, ...files });
  const known = (answer: Promise<ApiAnswer>): Promise<ApiAnswer> => {
    underWay.add(answer);
    const over = (): void => void underWay.delete(answer);
    answer.then(over, over);
    return answer;
  };
  return {
    createShadow: (caller, signal) => known(client.createShadow(caller, signal)),
    putStatus: (caller, put, signal) => known(client.putStatus(caller, put, signal)),
    act: (caller, action, signal) => known(client.act(caller, action, signal)),
  };
}

/** Lets time pass until an attempt is over: the node rests on `version`. */
async function until(version: string): Promise<void> {
  for (let passed = 0; passed < 3_600_000; passed += 500) {
    await clock.advance(500);
    while (underWay.size > 0) await Promise.allSettled(underWay);
    await operator.control();
    const status = (await operator.shadow().catch(() => undefined))?.status;
    const rests = status?.current_state === 'Idle' && operator.wanted.at(-1)?.state === 'Idle';
    if (rests && status.current_version === version && operator.wanted.length > 1) return;
  }
  throw new Error(`not at ${version}: ${asked().join(', ')}`);
}

const asked = (): string[] =>
  operator.seen.map(({ method, url }) => `${method} ${url.replace('/bottlerocket-node-resource', '')}`.trim());
/** Wanted states, one after the other: at rest the older controller writes Idle again and again. */
const states = (): string[] =>
  operator.wanted.map(({ state }) => state).filter((state, index, all) => state !== all[index - 1]);
const UPDATE = ['StagedAndPerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate', 'Idle'];

async function expectInService(): Promise<void> {
  const { spec, metadata } = await operator.node();
  expect(spec?.unschedulable ?? false).toBe(false);
  expect(metadata.labels ?? {}).toEqual({});
}

test('an agent goes through an update with the older apiserver, CRD and controller', async () => {
  await until('1.39.0');
  expect(states()).toEqual(UPDATE);
  const others = asked().filter((line) => line !== 'PUT');
  expect(others).toEqual([
    'POST',
    'POST /exclude-from-lb',
    'POST /cordon-and-drain',
    'POST /cordon-and-drain',
    'POST /remove-exclusion-from-lb',
    'POST /uncordon',
  ]);
  await expectInService();
  expect((await operator.shadow()).status).toEqual({
    current_version: '1.39.0',
    target_version: '1.39.0',
    current_state: 'Idle',
    crash_count: 0,
  });
});

test('each request names the node and bears the token; each status has what the older struct cannot do without', async () => {
  await until('1.39.0');
  const { uid } = (await operator.node()).metadata;
  for (const { headers } of operator.seen)
    expect(headers).toMatchObject({ brupopnodename: 'n1', brupopnodeuid: uid, brupopk8sauthtoken: 'token-1' });
  const statuses = operator.seen
    .filter(({ method }) => method === 'PUT')
    .map(({ headers, body }) => [headers['content-type'], JSON.parse(body) as unknown]);
  for (const [type, status] of statuses) {
    expect(type).toBe('application/json');
    expect(status).toMatchObject({
      current_version: expect.any(String),
      target_version: expect.any(String),
      current_state: expect.any(String),
      crash_count: expect.any(Number),
    });
  }
});

test.each([
  ['a download', 'prepare'],
  ['a boot', 'boot'],
] as const)('%s that fails is ErrorReset with its time, and the next attempt makes up for it', async (_, fault) => {
  host.inject(fault);
  await until('1.38.0');
  const { status, spec } = await operator.shadow();
  expect(status).toMatchObject({ crash_count: 1, state_transition_failure_timestamp: expect.any(String) });
  expect(spec).toMatchObject({ state: 'Idle', version: '1.39.0' });
  await expectInService();
  host.clear(fault);
  await until('1.39.0');
  expect(states().slice(-UPDATE.length)).toEqual(UPDATE);
  expect((await operator.shadow()).status).toMatchObject({ crash_count: 0 });
  await expectInService();
});
