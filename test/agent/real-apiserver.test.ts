import { expect, test } from '@jest/globals';
import { createAgent } from '../../runtime/agent/agent.ts';
import { clusterView } from '../../runtime/agent/cluster.ts';
import { Bottlerocket } from '../../runtime/agent/host/bottlerocket.ts';
import type { Agent as Asking } from '../../runtime/apiserver/agent.ts';
import { classify, type OperatorAnswer, type OperatorApi } from '../../runtime/apiserver/client.ts';
import { RefusedError } from '../../runtime/apiserver/refusal.ts';
import type { Service } from '../../runtime/apiserver/service.ts';
import type { ShadowObject } from '../../runtime/kube/shadows.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { nextState, type State } from '../../runtime/shadow/states.ts';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { SimulatedHost } from '../../sim/hosts/host.ts';
import { Releases } from '../../sim/hosts/releases.ts';
import { InProcessHostTransport } from '../../sim/hosts/transport.ts';
import { SHADOWS, World } from '../apiserver/world.ts';

/** The apiserver without its sockets: what it throws becomes the answer that HTTP would have carried. */
function inProcess(service: Service): OperatorApi {
  const ask = async (work: Promise<unknown>): Promise<OperatorAnswer> => {
    try {
      await work;
      return { kind: 'ok' };
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return classify({ status: error.status, body: JSON.stringify({ error: error.message, reason: error.reason }) });
    }
  };
  return {
    createShadow: (agent: Asking) => ask(service.createShadow(agent)),
    putStatus: (agent: Asking, { status, shadowVersion: version }) =>
      ask(service.putStatus({ agent, status, version })),
    act: (agent: Asking, action) => ask(service[action](agent)),
  };
}

const shadowOf = async (world: World): Promise<ShadowObject> => (await world.get(`${SHADOWS}/brs-n1`)) as ShadowObject;

/** Controller and kubelet of the node `n1`, up to the monitoring; returns the states that were reached. */
async function rollOut(world: World): Promise<State[]> {
  const states: State[] = [];
  for (let second = 0; second < 600 && states.at(-1) !== 'MonitoringUpdate'; second++) {
    await world.clock.advance(1000);
    for (const pod of await world.pods()) if (pod.metadata.deletionTimestamp) await world.endPod(pod.metadata.name);
    const { spec, status } = await shadowOf(world);
    if (!status || status.current_state !== spec.state) continue;
    if (spec.state !== 'Idle') states.push(spec.state);
    if (spec.state === 'Idle' && status.target_version !== '1.39.0') continue;
    await world.setSpec('n1', { state: nextState(spec.state), version: '1.39.0' });
  }
  return states;
}

test('an agent and the real apiserver take a node of the embedded cluster through its update', async () => {
  const world = await World.create();
  const { clock, random } = world;
  await world.setSpec('n1', { state: 'Idle', version: null });
  await world.setStatus('n1', { current_state: 'Idle' });
  await world.addPod('web-1');
  const { service } = world.replica();
  const host = new SimulatedHost({ clock, random, version: '1.38.0', releases: new Releases(['1.38.0', '1.39.0']) });
  const life = new AbortController();
  let agentLife = new AbortController();
  const startAgent = (): void => {
    agentLife = new AbortController();
    const common = { clock, random, logger: silentLogger };
    const transport = new InProcessHostTransport({ host, clock });
    const driver = new Bottlerocket({ transport, clock, random, readBootId: async () => host.boot?.id ?? '' });
    const seen = clusterView({ ...common, transport: world.admin, namespace: NAMESPACE, nodeName: 'n1' });
    const times = { lbWaitMs: 30_000, checkIntervalMs: 120_000 };
    const agent = createAgent({ ...common, ...seen, host: driver, api: inProcess(service), times });
    agent.run(agentLife.signal).catch(() => undefined);
  };
  host.observe({
    onDown: () => agentLife.abort(new Error('killed')),
    onUp: ({ id, version }) => void world.reboot('n1', { bootID: id, version }).then(startAgent),
  });
  host.start(life.signal);

  expect(await rollOut(world)).toEqual(['StagedAndPerformedUpdate', 'RebootedIntoUpdate', 'MonitoringUpdate']);
  await clock.advance(5000);
  const { status } = await shadowOf(world);
  expect(status).toMatchObject({ current_state: 'Idle', current_version: '1.39.0', crash_count: 0 });
  expect(status?.reboot ?? null).toBeNull();
  expect(await world.pods()).toEqual([]);
  const node = await world.node();
  expect(node.spec?.unschedulable ?? false).toBe(false);
  expect(node.metadata.labels ?? {}).toEqual({});
  expect(host.requests.get('POST /actions/prepare-update')).toBe(1);
  agentLife.abort();
  life.abort();
});
