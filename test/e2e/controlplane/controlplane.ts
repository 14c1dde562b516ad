import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterAccess } from '../../../runtime/kube/credentials.ts';
import { kubeconfigAccess } from '../../../runtime/kube/kubeconfig.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import type { Subject } from '../../../sim/cluster/pki.ts';
import {
  apiserverArguments,
  AUDIT_POLICY,
  controllerManagerArguments,
  etcdArguments,
  type Layout,
  schedulerArguments,
} from './arguments.ts';
import type { Binaries } from './build.ts';
import { Daemon } from './daemon.ts';
import { exchange } from './exchange.ts';
import { createPki, kubeconfig } from './pki.ts';

export interface ControlPlaneOptions {
  readonly binaries: Binaries;
  readonly clock: Clock;
}

/** A real Kubernetes control plane on free loopback ports: API server, etcd, controllers and scheduler, without any node. */
export interface ControlPlane {
  readonly url: string;
  /** Folder of everything that the control plane writes; gone after `stop`. */
  readonly dir: string;
  /** File of a kubeconfig of a cluster administrator. */
  readonly kubeconfig: string;
  readonly caPem: string;
  /** One line of JSON per request (audit.k8s.io/v1). */
  readonly auditLog: string;
  readonly apiserver: Daemon;
  /** Writes a kubeconfig of a user of its own and answers with its file. */
  kubeconfigFor(user: Subject): Promise<string>;
  /** Resolves when the API server says that it is ready. Rejects when it ended, or took more than a minute. */
  ready(): Promise<void>;
  /** Ends every process and removes every file. */
  stop(): Promise<void>;
}

const ADMIN: Subject = { commonName: 'controlplane-admin', organization: 'system:masters' };
const READY_WITHIN_MS = 60_000;
const POLL_MS = 50;

/** Starts everything and resolves when it is ready, the `default` namespace with its service account included. */
export async function startControlPlane({ binaries, clock }: ControlPlaneOptions): Promise<ControlPlane> {
  const dir = await mkdtemp(join(tmpdir(), 'brupop-controlplane-'));
  const layout = await prepare(dir, clock);
  const { pki, ports } = layout;
  const url = `https://127.0.0.1:${ports.api}`;
  const kubeconfigFor = async (user: Subject): Promise<string> => {
    const file = join(dir, `${user.commonName.replaceAll(':', '-')}.kubeconfig`);
    await writeFile(file, await kubeconfig(pki.ca, url, user), { mode: 0o600 });
    return file;
  };
  const daemon = (name: string, args: readonly string[]): Daemon =>
    new Daemon({ file: binaries[name] ?? name, args, logFile: join(dir, 'logs', `${name}.log`) });

  const manager = await kubeconfigFor({ commonName: 'system:kube-controller-manager' });
  const etcd = daemon('etcd', etcdArguments(layout));
  const apiserver = daemon('kube-apiserver', apiserverArguments(layout));
  const others = [
    daemon('kube-controller-manager', controllerManagerArguments(layout, manager)),
    daemon('kube-scheduler', schedulerArguments(await kubeconfigFor({ commonName: 'system:kube-scheduler' }))),
  ];
  const admin = await kubeconfigFor(ADMIN);
  const { access } = await kubeconfigAccess(admin);
  const answers = (path: string) => (): Promise<boolean> => isOk(access, path);
  const until = (condition: () => Promise<boolean>, watched: Daemon): Promise<void> =>
    untilTrue(condition, { watched, clock });

  const controlPlane: ControlPlane = {
    url,
    dir,
    kubeconfig: admin,
    caPem: pki.ca.certPem,
    auditLog: layout.auditLogFile,
    apiserver,
    kubeconfigFor,
    ready: () => until(answers('/readyz'), apiserver),
    stop: async () => {
      // What depends on something ends before it: nobody waits for a server that is gone.
      await Promise.all(others.map((other) => other.stop('SIGKILL')));
      await apiserver.stop('SIGKILL');
      await etcd.stop('SIGKILL');
      await rm(dir, { recursive: true, force: true });
    },
  };
  try {
    etcd.start();
    apiserver.start();
    await controlPlane.ready();
    for (const other of others) other.start();
    await until(answers('/api/v1/namespaces/default/serviceaccounts/default'), others[0] ?? apiserver);
    await until(answers('/api/v1/namespaces/default/configmaps/kube-root-ca.crt'), others[0] ?? apiserver);
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
  return controlPlane;
}

async function prepare(dir: string, clock: Clock): Promise<Layout> {
  await mkdir(join(dir, 'logs'));
  const auditPolicyFile = join(dir, 'audit-policy.json');
  await writeFile(auditPolicyFile, JSON.stringify(AUDIT_POLICY));
  const [api = 0, etcd = 0, etcdPeer = 0] = await freePorts(3);
  return {
    pki: await createPki(clock, join(dir, 'pki')),
    ports: { api, etcd, etcdPeer },
    dataDir: join(dir, 'etcd'),
    auditPolicyFile,
    auditLogFile: join(dir, 'audit.log'),
  };
}

/** Ports of loopback that were free a moment ago, all different. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  return ports;
}

async function isOk(access: ClusterAccess, path: string): Promise<boolean> {
  const answer = await exchange(access, { path }).catch(() => undefined);
  return answer?.status === 200;
}

async function untilTrue(
  condition: () => Promise<boolean>,
  { watched, clock }: { watched: Daemon; clock: Clock },
): Promise<void> {
  const deadline = clock.monotonic() + READY_WITHIN_MS;
  while (!(await condition())) {
    if (!watched.running) throw new Error(`the control plane did not start:\n${await watched.lastWords()}`);
    if (clock.monotonic() > deadline) throw new Error(`not ready in time:\n${await watched.lastWords()}`);
    await clock.sleep(POLL_MS);
  }
}
