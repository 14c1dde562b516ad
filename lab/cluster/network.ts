import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { OWN_ADDRESS, SERVICES } from '../../test/e2e/controlplane/pki.ts';

/** Where a node is in the cluster's network. */
export interface Address {
  /** Of the node itself. */
  readonly ip: string;
  /** Of its network card, which a reboot does not change: neighbours remember it. */
  readonly mac: string;
  /** Of its pods. */
  readonly podSubnet: string;
}

/** The API server, for nodes and pods. */
export const API_HOST = OWN_ADDRESS;
/** Of the Service of the cluster's DNS. */
export const DNS_ADDRESS = '10.96.0.10';
/** Addresses of all pods. */
export const POD_NETWORK = '10.244.0.0/16';
/** The control plane on the nodes' segment. */
const GATEWAY = '172.30.0.1';
/** A bridge without one of its own takes the least of its ports', another with each node that comes and goes. */
const GATEWAY_MAC = macOf(1);
const SEGMENT = 'nodes';

/** @param index of the node, from 1 to 200 */
export function addressOf(index: number): Address {
  return { ip: `172.30.0.${10 + index}`, mac: macOf(10 + index), podSubnet: `10.244.${index}.0/24` };
}

function macOf(number: number): string {
  return `02:00:ac:1e:00:${number.toString(16).padStart(2, '0')}`;
}

/** What a node reaches by way of whom: pods by their nodes, and everything else by the control plane. */
export function routesOf(self: Address, all: readonly Address[]): string {
  const others = all.filter(({ ip }) => ip !== self.ip).map(({ ip, podSubnet }) => `${podSubnet} ${ip}`);
  return [`default ${GATEWAY}`, ...others].map((line) => `${line}\n`).join('');
}

/** Lays the nodes' segment in this process's network namespace, from which nothing leads outside. */
export async function laySegment(nodes: readonly Address[]): Promise<void> {
  await runIp('link', 'add', SEGMENT, 'address', GATEWAY_MAC, 'type', 'bridge');
  await runIp('address', 'add', `${GATEWAY}/24`, 'dev', SEGMENT);
  await runIp('link', 'set', SEGMENT, 'up');
  for (const { ip: via, podSubnet } of nodes) await runIp('route', 'add', podSubnet, 'via', via);
  // Services' addresses lie nowhere: kube-proxy's rules send on what is under way to one, and only what has a route gets under way.
  await runIp('route', 'add', SERVICES, 'dev', SEGMENT);
  await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
}

/** Connects the network namespace of a process with the segment: there the cable's end is `eth0`. */
export async function plugIn(name: string, { mac }: Address, pid: number): Promise<void> {
  // That of the boot before goes with its namespace, some time after the last process in it.
  await runIp('link', 'delete', name).catch(() => undefined);
  await runIp('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'address', mac, 'netns', String(pid));
  await runIp('link', 'set', name, 'master', SEGMENT, 'up');
}

async function runIp(...args: readonly string[]): Promise<void> {
  await promisify(execFile)('ip', args);
}
