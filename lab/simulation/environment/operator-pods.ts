import { BootIdError } from '../../../runtime/agent/hosts/errors.ts';
import {
  AGENT_SERVICE_ACCOUNT,
  COMPONENT_LABEL,
  COMPONENTS,
  NAMESPACE,
  TOKEN_AUDIENCE,
} from '../../../runtime/api/shadow/names.ts';
import { InProcessHostTransport } from '../../sim/hosts/transport.ts';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { Processes } from '../processes.ts';
import type { Container, HostAccess } from '../programs.ts';
import type { Process } from '../types.ts';
import { programOf } from './daemons.ts';
import type { Hand } from './hand.ts';
import type { Machine } from './machine.ts';
import type { Troubles } from './machines.ts';
import type { Program, Stop } from '../../sim/kubernetes/kubelet/pod-run.ts';
import type { Timers } from './timers.ts';
import { upstreamAgent } from './upstream-agent.ts';

/** A token lives for an hour, and a kubelet makes a new one after four fifths of that. */
const TOKEN_SECONDS = 3600;
const RENEWED_MS = 0.8 * TOKEN_SECONDS * 1000;
/** One that could not make it tries again with the next look at the pod. */
const RETRIED_MS = 60_000;

/** A node as the operator's containers find it. */
export interface ContainerNode {
  readonly name: string;
  readonly machine: Machine;
  readonly hand: Hand;
  /** Whether its kubelet works. */
  readonly works: () => boolean;
}

/** The operator's own containers, each with the name of its process. */
export class OperatorPods {
  readonly #containers: Processes;
  readonly #timers: Timers;
  readonly #troubles: Troubles;
  /** By name, those that run. */
  readonly #running = new Map<string, Process>();

  constructor(parts: { readonly containers: Processes; readonly timers: Timers; readonly troubles: Troubles }) {
    this.#containers = parts.containers;
    this.#timers = parts.timers;
    this.#troubles = parts.troubles;
  }

  /** The program of a pod that is the operator's. */
  program(pod: Pod, where: ContainerNode): Program | undefined {
    const component = pod.metadata.labels?.[COMPONENT_LABEL];
    if (component === COMPONENTS.agent) return this.#agent(where);
    if (component === COMPONENTS.apiserver) return this.#replica('apiserver', where);
    return component === COMPONENTS.controller ? this.#replica('controller', where) : undefined;
  }

  agent(node: string): Process | undefined {
    return this.#running.get(`agent-${node}`) ?? this.#running.get(`upstream-agent-${node}`);
  }

  #replica(kind: 'apiserver' | 'controller', { name: node, machine }: ContainerNode): Program {
    let running: Process | undefined;
    return {
      start: (pod, ended) => {
        running = this.#run({ process: this.#free(kind), kind, node, pod: pod.metadata.name }, machine, ended);
        return Promise.resolve(undefined);
      },
      stop: (how) => end(running, how),
    };
  }

  /** The lowest number that no other has. */
  #free(kind: string): string {
    let number = 0;
    while (this.#running.has(`${kind}-${number}`)) number += 1;
    return `${kind}-${number}`;
  }

  #agent(where: ContainerNode): Program {
    const { name: node, machine } = where;
    let running: Process | undefined;
    return {
      start: async (pod, ended) => {
        const refusal = this.#troubles.refusal(node, machine.host.version);
        if (refusal !== undefined) return refusal;
        const boot = machine.host.boot?.id;
        const token = new Token(pod, where);
        await token.renew();
        // The host may have gone down meanwhile.
        if (boot === undefined || machine.host.boot?.id !== boot) return 'ContainerCreating';
        const isUpstream = programOf(pod) === 'upstream-agent';
        const process = `${isUpstream ? 'upstream-agent' : 'agent'}-${node}`;
        const [host, program] = [this.#host(where, token), isUpstream && { program: upstreamAgent }];
        const container = { process, kind: 'agent', node, pod: pod.metadata.name, host, ...program } as const;
        const mine = this.#run(container, machine, ended);
        running = mine;
        this.#keep(token, () => this.#running.get(process) === mine);
        return undefined;
      },
      stop: (how) => end(running, how),
    };
  }

  #keep(token: Token, isWanted: () => boolean, inMs = RENEWED_MS): void {
    this.#timers.after(inMs, async () => {
      if (!isWanted()) return;
      const isNew = await token.renew();
      this.#keep(token, isWanted, isNew ? RENEWED_MS : RETRIED_MS);
    });
  }

  #host({ name, machine: { host } }: ContainerNode, token: Token): HostAccess {
    return {
      connect: (clock) => new InProcessHostTransport({ host, clock, pinned: true }),
      bootId: () => {
        if (host.boot) return host.boot.id;
        throw new BootIdError('boot_id: the host is down');
      },
      token: () => (this.#troubles.expired.has(name) ? `${token.text}-expired` : token.text),
    };
  }

  #run(container: Omit<Container, 'onEnd' | 'offMs'>, machine: Machine, ended: (exitCode: number) => void): Process {
    const { process: name } = container;
    let isOver = false;
    const process = this.#containers.start({
      ...container,
      offMs: () => machine.offMs,
      onEnd: (exitCode) => {
        isOver = true;
        if (this.#running.get(name) === process) this.#running.delete(name);
        ended(exitCode);
      },
    });
    if (!isOver) this.#running.set(name, process);
    return process;
  }
}

function end(process: Process | undefined, how: Stop): void {
  if (how === 'terminated') process?.terminate();
  else if (how === 'vanished') process?.vanish();
  else process?.kill();
}

/** The projected token of one pod. */
class Token {
  text = '';
  readonly #pod: Pod;
  readonly #where: ContainerNode;

  constructor(pod: Pod, where: ContainerNode) {
    this.#pod = pod;
    this.#where = where;
  }

  /** A kubelet that does not work makes none, and the old one expires in its time. @returns whether there is a new one */
  async renew(): Promise<boolean> {
    const { hand, works } = this.#where;
    if (!works()) return false;
    const { name, uid } = this.#pod.metadata;
    const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid };
    const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${AGENT_SERVICE_ACCOUNT}/token`;
    const spec = { audiences: [TOKEN_AUDIENCE], expirationSeconds: TOKEN_SECONDS, boundObjectRef };
    const made = await hand.create<{ status: { token: string } }>(path, { spec });
    if (made) this.text = made.status.token;
    return made !== undefined;
  }
}
