import { createAgent } from '../../runtime/agent/agent.ts';
import { clusterView } from '../../runtime/agent/cluster.ts';
import type { HostTransport } from '../../runtime/agent/hosts/bottlerocket/calls.ts';
import { readAgentConfig } from '../../runtime/agent/config.ts';
import { Bottlerocket } from '../../runtime/agent/hosts/bottlerocket/bottlerocket.ts';
import { agentApi } from '../../runtime/agent/apiserver/client.ts';
import { createApiserver } from '../../runtime/apiserver/apiserver.ts';
import { readApiserverConfig } from '../../runtime/apiserver/config.ts';
import { shutDown } from '../../runtime/apiserver/run.ts';
import { readControllerConfig } from '../../runtime/controller/config.ts';
import { createManager, newIdentity } from '../../runtime/controller/manager.ts';
import { askingAgain } from '../../runtime/kube/asking-again.ts';
import { aborted } from '../../runtime/lib/abort.ts';
import type { Clock } from '../../runtime/lib/clock.ts';
import { silentLogger as logger } from '../../runtime/lib/log.ts';
import type { Random } from '../../runtime/lib/random.ts';
import {
  AGENT_SERVICE_ACCOUNT,
  APISERVER_SERVICE_ACCOUNT,
  CONTROLLER_SERVICE_ACCOUNT,
  NAMESPACE,
} from '../../runtime/api/shadow/names.ts';
import type { UserInfo } from '../sim/cluster/cluster.ts';
import { remembering } from './memories.ts';
import { exchange } from './memory-http.ts';
import type { Member } from './carriage.ts';
import type { SimulatedNetwork } from './network.ts';
import type { Process, Settings } from './types.ts';

/** One of the operator's containers, as kubelets deal with them. */
export interface Container {
  /** Name of the process: `controller-0` and `-1`, `apiserver-0` to `-2`, `agent-<node>`. A pod that replaces another takes the lowest number that is free. */
  readonly process: string;
  readonly kind: Process['kind'];
  readonly node: string;
  /** Name of its pod. */
  readonly pod: string;
  /** How far the wall clock of its machine is off, milliseconds. */
  readonly offMs: () => number;
  /** What an agent has of its node; nothing else reaches the host. */
  readonly host?: HostAccess;
  /** What runs in place of the program of its kind. */
  readonly program?: Program;
  /** The process has ended, whoever ended it. Called once, within the step that ends it. */
  readonly onEnd: (exitCode: number) => void;
}

export interface HostAccess {
  /** The way to the host's API that this container has: a mount, dead for ever once the host has made a new socket. */
  connect(clock: Clock): HostTransport;
  /** What /proc says. @throws BootIdError */
  bootId(): string;
  /** The projected token for the apiserver, as the kubelet has last written it. */
  token(): string;
}

/** What one life of a process has to do with. */
export interface Surroundings {
  readonly container: Container;
  readonly member: Member;
  readonly network: SimulatedNetwork;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts when it is told to end. */
  readonly signal: AbortSignal;
}

/** Runs to its end; resolves with the reason where it ends by itself. */
export type Program = (surroundings: Surroundings) => Promise<string | void>;

const controller: Program = async ({ container, member, network, settings, clock, random, signal }) => {
  const { node: MY_NODE_NAME, pod: MY_POD_NAME } = container;
  const config = readControllerConfig({ MY_NODE_NAME, MY_POD_NAME, ...settings.controller });
  const manager = createManager({
    transport: askingAgain(network.kube(member), { clock, random }),
    namespace: NAMESPACE,
    clock,
    random,
    logger,
    config,
    ...(config.NOTIFICATIONS_DIR !== undefined && { notifierOf: remembering }),
    ...newIdentity(config, random),
  });
  await manager.run(signal);
};

const apiserver: Program = async ({ container, member, network, settings, clock, random, signal }) => {
  const { name } = member.process;
  const { handle, service } = createApiserver({
    transport: askingAgain(network.kube(member), { clock, random, drains: true }),
    namespace: NAMESPACE,
    config: readApiserverConfig(settings.apiserver),
    clock,
    random,
    logger,
    instance: container.pod,
  });
  network.replicas.join({ name, life: member.life, serve: (incoming, gone) => exchange(handle, incoming, gone) });
  await aborted(signal).catch(() => undefined);
  network.replicas.leave(name);
  await shutDown({ clock, service, server: { close: (_, graceMs) => clock.sleep(graceMs) } });
};

const agent: Program = async ({ container, member, network, settings, clock, random, signal }) => {
  const { node: nodeName, host } = container;
  if (!host) throw new Error('an agent has a host');
  const config = readAgentConfig({ MY_NODE_NAME: nodeName, ...settings.agent });
  const running = createAgent({
    ...clusterView({
      transport: askingAgain(network.kube(member), { clock, random }),
      namespace: NAMESPACE,
      nodeName,
      clock,
      random,
      logger,
    }),
    host: new Bottlerocket({
      transport: network.host(member, host.connect(clock)),
      readBootId: async () => host.bootId(),
      clock,
      random,
    }),
    api: agentApi({ clock, roundTrip: network.exchange(member), token: async () => host.token() }),
    clock,
    random,
    logger,
    times: {
      lbWaitMs: config.EXCLUDE_FROM_LB_WAIT_TIME_MS,
      checkIntervalMs: config.UPDATE_CHECK_INTERVAL_MS,
    },
  });
  return running.run(signal);
};

/** The programs of the operator, each with all that its `run.ts` gives it but sockets and files. */
export const PROGRAMS: Readonly<Record<Process['kind'], Program>> = { controller, apiserver, agent };

const ACCOUNTS = {
  controller: CONTROLLER_SERVICE_ACCOUNT,
  apiserver: APISERVER_SERVICE_ACCOUNT,
  agent: AGENT_SERVICE_ACCOUNT,
} as const;

/** Who such a process is to the Kubernetes API. */
export function userOf(kind: Process['kind']): UserInfo {
  return {
    username: `system:serviceaccount:${NAMESPACE}:${ACCOUNTS[kind]}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'],
  };
}
