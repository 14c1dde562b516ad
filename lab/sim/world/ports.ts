import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { containerOf, podEnv } from './pod-template.ts';

/** Ports of loopback that were free a moment ago, all different. Somebody else may take one before its user does. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) await once(server.listen(0, '127.0.0.1'), 'listening');
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) await once(server.close(), 'close');
  return ports;
}

/** Where a program listens, by the variable that says so, and where it does by default. */
const LISTENING: Readonly<Record<string, string>> = { HTTP_PORT: '8080', APISERVER_INTERNAL_PORT: '8443' };

/** Ports of a pod's program on this machine, where all pods share one network. */
export class PodPorts {
  readonly #pod: Pod;
  /** For each variable of the pod: the port that it says, and the one of this machine. */
  readonly #ports: readonly { readonly variable: string; readonly stated: string; readonly actual: number }[];

  /** @param free as many free ports as a program may have */
  constructor(pod: Pod, free: readonly number[]) {
    this.#pod = pod;
    const env = podEnv(pod);
    this.#ports = Object.entries(LISTENING).flatMap(([variable, usual], index) => {
      const stated = env[variable] ?? usual;
      const listens = variable in env || declares(pod, usual);
      return listens ? [{ variable, stated, actual: free[index] ?? 0 }] : [];
    });
  }

  static async of(pod: Pod): Promise<PodPorts> {
    return new PodPorts(pod, await freePorts(Object.keys(LISTENING).length));
  }

  /** Variables that make the program listen there. */
  env(): Record<string, string> {
    return Object.fromEntries(this.#ports.map(({ variable, actual }) => [variable, String(actual)]));
  }

  /** Where this machine finds what a probe or a Service names: a port's number, or its name. Undefined where nothing listens there. */
  actual(port: number | string): number | undefined {
    const named = containerOf(this.#pod)?.ports?.find(({ name }) => name === port)?.containerPort;
    return this.#ports.find(({ stated }) => stated === String(named ?? port))?.actual;
  }
}

function declares(pod: Pod, port: string): boolean {
  return containerOf(pod)?.ports?.some(({ containerPort }) => String(containerPort) === port) ?? false;
}
