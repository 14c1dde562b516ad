import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createAgent } from '../../runtime/agent/agent.ts';
import { agentApi, type RoundTrip } from '../../runtime/agent/apiserver/client.ts';
import { clusterView } from '../../runtime/agent/cluster.ts';
import { Bottlerocket } from '../../runtime/agent/hosts/bottlerocket/bottlerocket.ts';
import type { AgentStatus } from '../../runtime/api/shadow/model.ts';
import type { State } from '../../runtime/api/shadow/states.ts';
import { AGENT_SERVICE_ACCOUNT, NAMESPACE, shadowName, TOKEN_AUDIENCE } from '../../runtime/api/shadow/names.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { SimulatedHost } from '../../lab/sim/hosts/host.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import { InProcessHostTransport } from '../../lab/sim/hosts/transport.ts';
import { runUpstreamAgent } from '../../lab/simulation/environment/upstream-agent.ts';
import { exchange } from '../../lab/simulation/memory-http.ts';
import { Stage } from '../controller/stage.ts';
import { seeded } from '../random.ts';
import { OlderParts } from './older.ts';

/** Parts of both implementations beside each other, over the older custom resource, as they are in the middle of an upgrade or of the way back. */

const NODE = 'n1';
const random = seeded(3);
let stage: Stage;
let host: SimulatedHost;
let older: OlderParts;
let life: AbortController;
let reached: State[];

beforeEach(async () => {
  stage = await Stage.upstream(NODE);
  await stage.shadows.delete(shadowName(NODE), {});
  const { clock, transport } = stage;
  life = new AbortController();
  reached = [];
  older = new OlderParts({ transport, clock });
  host = new SimulatedHost({ clock, random, version: '1.0.0', releases: new Releases(['1.0.0', '1.1.0']) });
});
afterEach(async () => {
  life.abort(new Error('over'));
  await stage.end();
});

/** It says of its Node what has booted. */
async function kubeletStarts(): Promise<void> {
  const nodeInfo = { osImage: `Bottlerocket OS ${host.version} (aws-k8s-1.33)`, bootID: host.boot?.id };
  await stage.patch(`/api/v1/nodes/${NODE}/status`, { status: { nodeInfo } });
}

/** In each boot of the host: the kubelet, then an agent. */
function boot(run: (signal: AbortSignal) => Promise<unknown>): void {
  let agent = new AbortController();
  host.observe({
    onDown: () => agent.abort(new Error('killed')),
    onUp: () => {
      agent = new AbortController();
      const signal = AbortSignal.any([agent.signal, life.signal]);
      kubeletStarts()
        .then(() => run(signal))
        .catch(() => undefined);
    },
  });
  host.start(life.signal);
}

const connect = (): InProcessHostTransport => new InProcessHostTransport({ host, clock: stage.clock });

function ourAgent(roundTrip: RoundTrip, signal: AbortSignal): Promise<unknown> {
  const { clock, transport } = stage;
  const common = { clock, random, logger: silentLogger };
  const agent = createAgent({
    ...common,
    ...clusterView({ ...common, transport, namespace: NAMESPACE, nodeName: NODE }),
    host: new Bottlerocket({ ...common, transport: connect(), readBootId: async () => host.boot?.id ?? '' }),
    api: agentApi({ clock, roundTrip, token: async () => 'token-1' }),
    times: { lbWaitMs: 30_000, checkIntervalMs: 120_000 },
  });
  return agent.run(signal);
}

const olderApiserver: RoundTrip = async ({ method, path, headers, body = '' }) => {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const answer = older.serve({ method, url: path, headers: lower, body });
  return answer.then(
    () => ({ status: 200, body: '' }),
    (error: unknown) => ({ status: 500, body: String(error) }),
  );
};

async function agentToken(): Promise<string> {
  const accounts = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  await stage.create(accounts, { metadata: { name: AGENT_SERVICE_ACCOUNT } });
  const spec = {
    audiences: [TOKEN_AUDIENCE],
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: `agent-${NODE}` },
  };
  const made = await stage.create(`${accounts}/${AGENT_SERVICE_ACCOUNT}/token`, { spec });
  return (made as unknown as { status: { token: string } }).status.token;
}

/** The same, and what its agent says that it has reached is kept. */
const heard =
  (roundTrip: RoundTrip): RoundTrip =>
  async (outgoing, signal) => {
    const reply = await roundTrip(outgoing, signal);
    if (outgoing.method === 'PUT' && reply.status < 300) {
      const { current_state } = JSON.parse(outgoing.body ?? '') as AgentStatus;
      if (current_state !== reached.at(-1)) reached.push(current_state);
    }
    return reply;
  };

async function rests(version: string): Promise<boolean> {
  const { spec, status } = (await stage.shadows.get(shadowName(NODE))) ?? {};
  const isIdle = spec?.state === 'Idle' && status?.current_state === 'Idle';
  return isIdle && status.current_version === version;
}

/** Lets time pass until the node rests on `version`, and is in service. */
async function until(version: string, control?: () => Promise<void>): Promise<void> {
  for (let passed = 0; passed < 3_600_000; passed += 500) {
    await stage.pass(500);
    await control?.();
    if ((await rests(version)) && (await older.node()).spec?.unschedulable !== true) return;
  }
  throw new Error(`not at ${version}: ${reached.join(', ')}`);
}

const UPDATE = ['Idle', 'StagedAndPerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate', 'Idle'];

async function expectInService(): Promise<void> {
  const { spec, metadata } = await older.node();
  expect(spec?.unschedulable ?? false).toBe(false);
  expect(
    Object.keys({ ...metadata.labels, ...metadata.annotations }).filter((key) => /exclude|marks/.test(key)),
  ).toEqual([]);
}

test('our agent and controller go through an update with the older apiserver, and the permit is given back', async () => {
  boot((signal) => ourAgent(heard(olderApiserver), signal));
  stage.start();
  await until('1.1.0');
  expect(reached).toEqual(UPDATE);
  await stage.pass(5000);
  expect(await stage.permits()).toEqual([]);
  await expectInService();
});

test('an older agent under the older controller goes through an update with our apiserver', async () => {
  const { clock, transport } = stage;
  const { handle } = stage.apiserver();
  const token = await agentToken();
  boot((signal) =>
    runUpstreamAgent({
      nodeName: NODE,
      transport,
      connect,
      exchange: heard((outgoing, gone) => exchange(handle, outgoing, gone)),
      token: () => token,
      clock,
      random,
      signal,
    }),
  );
  await until('1.1.0', () => older.control());
  expect(reached).toEqual(UPDATE);
  await expectInService();
});
