import { join } from 'node:path';
import { NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { systemClock } from '../../runtime/lib/clock.ts';
import type { RealCluster } from './cluster.ts';
import { comesTrue } from './come-true.ts';
import { certManagerCrds, programs } from './controlplane/build.ts';
import { Daemon } from './controlplane/daemon.ts';
import { kubectl } from './kubectl.ts';

export interface CertManager {
  stop(): Promise<void>;
}

/** cert-manager's definitions as its installation brings them, its controller and its CA injector. */
export async function startCertManager({ kubeconfig, dir }: RealCluster): Promise<CertManager> {
  await kubectl('apply', '--server-side', '-f', await certManagerCrds({ env: process.env }));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all');
  const found = await programs({ env: process.env, progress: () => undefined });
  const daemons = ['cert-manager', 'cainjector'].map((name) => {
    const args = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
    return new Daemon({ file: found[name] ?? name, args, logFile: join(dir, 'logs', `${name}.log`) });
  });
  for (const daemon of daemons) daemon.start();
  for (const daemon of daemons) void daemon.keep(systemClock);
  return {
    stop: async () => {
      await Promise.all(daemons.map((daemon) => daemon.stop('SIGKILL')));
    },
  };
}

/** Resolves when every certificate has been issued and the CRD trusts the authority that signed the apiserver's. */
export async function certificatesIssued(): Promise<void> {
  await kubectl('wait', '--for=condition=Ready', 'certificate', '--all', '-n', NAMESPACE, '--timeout=60s');
  await comesTrue(async () => {
    const crd = await kubectl(
      'get',
      'crd',
      'bottlerocketshadows.brupop.bottlerocket.aws',
      '-o',
      jsonPath('.spec.conversion.webhook.clientConfig.caBundle'),
    );
    const secret = await kubectl(
      'get',
      'secret',
      '-n',
      NAMESPACE,
      'brupop-apiserver-certificate',
      '-o',
      jsonPath(String.raw`.data.ca\.crt`),
    );
    return crd.stdout !== '' && crd.stdout === secret.stdout;
  });
}

function jsonPath(path: string): string {
  return `jsonpath={${path}}`;
}
