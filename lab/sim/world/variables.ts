import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INIT_PID } from '../hosts/k3os/root.ts';
import type { Mounts } from './pod-files.ts';

/** Where the processes look for files, by the variable that says so, and where they do by default. */
const PATHS: Readonly<Record<string, string>> = {
  SERVICE_ACCOUNT_DIR: '/var/run/secrets/kubernetes.io/serviceaccount',
  TLS_DIR: '/etc/brupop-tls-keys',
  AGENT_TOKEN_PATH: '/var/run/secrets/tokens/bottlerocket-agent-service-account-token',
  BOTTLEROCKET_API_SOCKET: '/run/api.sock',
  HOST_ROOT: '/.bottlerocket/rootfs',
  BOOT_ID_PATH: '/proc/sys/kernel/random/boot_id',
  TERMINATION_LOG: '/dev/termination-log',
};

/** Where a process looks that has been told to look. */
const STATED_PATHS = ['NOTIFICATIONS_DIR', 'REPOSITORIES_DIR'] as const;

/**
 * Variables that bring a program which sees this machine's files to those of its pod: each path that the pod states, or that is its
 * default, as it is on this machine.
 * @param nowhere folder that does not exist: there is what the pod has not mounted
 */
export function pathVariables(
  stated: Readonly<Record<string, string>>,
  mounts: Mounts,
  nowhere: string,
): Record<string, string> {
  const paths = Object.entries(PATHS).map(([name, usual]) => [name, onMachine(stated[name] ?? usual, mounts, nowhere)]);
  const told = STATED_PATHS.flatMap((name) => {
    const path = stated[name];
    return path === undefined ? [] : [[name, onMachine(path, mounts, nowhere)]];
  });
  const all = Object.fromEntries([...paths, ...told]) as Record<string, string>;
  return { ...all, ...rootVariable(mounts), ...initVariable(mounts) };
}

const SYSTEM = '/k3os/system';

/** An agent of a k3OS host has several paths of it, below one root here. */
function rootVariable(mounts: Mounts): Record<string, string> {
  const root = k3osRoot(mounts);
  return root === undefined ? {} : { HOST_ROOT: root };
}

/** Brings an agent of a k3OS host to its init: all hosts share one process namespace, so none of them has the process 1 that it should be. */
export function initVariable(mounts: Mounts): Record<string, string> {
  const root = k3osRoot(mounts);
  return root === undefined ? {} : { HOST_INIT_PID: readFileSync(join(root, INIT_PID), 'utf8') };
}

function k3osRoot(mounts: Mounts): string | undefined {
  return mounts[SYSTEM]?.slice(0, -SYSTEM.length);
}

function onMachine(path: string, mounts: Mounts, nowhere: string): string {
  const mount = Object.entries(mounts).find(([inside]) => path === inside || path.startsWith(`${inside}/`));
  return mount ? mount[1] + path.slice(mount[0].length) : join(nowhere, path);
}
