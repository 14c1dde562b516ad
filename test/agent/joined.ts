import { createAgent } from '../../runtime/agent/agent.ts';
import { clusterView } from '../../runtime/agent/cluster.ts';
import { Bottlerocket } from '../../runtime/agent/hosts/bottlerocket/bottlerocket.ts';
import { classify, type ApiAnswer, type AgentApi } from '../../runtime/agent/apiserver/client.ts';
import type { VerifiedAgent as Asking } from '../../runtime/apiserver/auth/authenticator.ts';
import { toRefusal } from '../../runtime/apiserver/refusal.ts';
import type { Service } from '../../runtime/apiserver/service.ts';
import type { KubeTransport } from '../../runtime/kube/transport.ts';
import { DeadlineError, withDeadline } from '../../runtime/lib/abort.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { silentLogger } from '../../runtime/lib/log.ts';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { SimulatedHost } from '../../lab/sim/hosts/host.ts';
import { Releases } from '../../lab/sim/hosts/releases.ts';
import { InProcessHostTransport } from '../../lab/sim/hosts/transport.ts';
import type { Replica, World } from '../apiserver/world.ts';

const LONGEST_REQUEST_MS = 60_000;

/** The apiserver without its sockets: what it throws becomes the answer that HTTP would have carried, if it comes in time. */
export function inProcess(service: Service, clock: Clock): AgentApi {
  const ask = async (work: Promise<unknown>): Promise<ApiAnswer> => {
    try {
      await work;
      return { kind: 'ok' };
    } catch (error) {
      if (error instanceof DeadlineError) return { kind: 'again', message: error.message };
      const { status, message, reason } = toRefusal(error);
      return classify({ status, body: JSON.stringify({ error: message, reason }) });
    }
  };
  return {
    createShadow: (agent: Asking) => ask(service.createShadow(agent)),
    putStatus: (agent: Asking, { status, shadowVersion: version, shadowState: state }) =>
      ask(service.putStatus({ agent, status, version, state })),
    act: (agent: Asking, action, signal) =>
      ask(withDeadline({ clock, ms: LONGEST_REQUEST_MS, signal }, (gone) => service[action](agent, gone))),
  };
}

export interface Joined {
  readonly host: SimulatedHost;
  /** The apiserver that the agent talks to. */
  readonly replica: Replica;
  readonly end: () => void;
}

/**
 * The node `n1` of an embedded cluster with a host of its own on 1.38.0, an agent on it, and the real apiserver between them.
 * @param transport the agent's own way to the Kubernetes API
 */
export function join(world: World, offered: readonly string[], transport: KubeTransport = world.transport): Joined {
  const { clock, random } = world;
  const replica = world.replica();
  const { service } = replica;
  const host = new SimulatedHost({ clock, random, version: '1.38.0', releases: new Releases(['1.38.0', ...offered]) });
  const life = new AbortController();
  let agentLife = new AbortController();
  const startAgent = (): void => {
    agentLife = new AbortController();
    const common = { clock, random, logger: silentLogger };
    const toHost = new InProcessHostTransport({ host, clock });
    const driver = new Bottlerocket({ transport: toHost, clock, random, readBootId: async () => host.boot?.id ?? '' });
    const seen = clusterView({ ...common, transport, namespace: NAMESPACE, nodeName: 'n1' });
    const times = { lbWaitMs: 30_000, checkIntervalMs: 120_000 };
    const agent = createAgent({ ...common, ...seen, host: driver, api: inProcess(service, clock), times });
    agent.run(agentLife.signal).catch(() => undefined);
  };
  host.observe({
    onDown: () => agentLife.abort(new Error('killed')),
    onUp: ({ id, version }) => void world.boots(version, id).then(startAgent),
  });
  host.start(life.signal);
  return {
    host,
    replica,
    end: () => {
      agentLife.abort();
      life.abort();
    },
  };
}
