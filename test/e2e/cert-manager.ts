import { expect } from '@jest/globals';
import { join } from 'node:path';
import { NAMESPACE } from '../../runtime/shadow/names.ts';
import { eventually } from '../contract/eventually.ts';
import { type Binaries, certManagerCrds } from './controlplane/build.ts';
import { Daemon } from './controlplane/daemon.ts';
import { kubectl } from './kubectl.ts';

/** cert-manager's CRDs, as its installation brings them. */
export async function installCertManagerCrds(): Promise<void> {
  await kubectl('apply', '--server-side', '-f', await certManagerCrds({ env: process.env }));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all');
}

/** Starts cert-manager's controller and CA injector. */
export function startCertManager(binaries: Binaries, kubeconfig: string, dir: string): readonly Daemon[] {
  return ['cert-manager', 'cainjector'].map((name) => {
    const args = [`--kubeconfig=${kubeconfig}`, '--leader-elect=false'];
    const daemon = new Daemon({ file: binaries[name] ?? name, args, logFile: join(dir, 'logs', `${name}.log`) });
    daemon.start();
    return daemon;
  });
}

/** Resolves when every certificate has been issued and the CRD trusts the authority that signed the apiserver's. */
export async function certificatesIssued(): Promise<void> {
  await kubectl('wait', '--for=condition=Ready', 'certificate', '--all', '-n', NAMESPACE, '--timeout=60s');
  await eventually(async () => {
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
    expect(crd.stdout).not.toBe('');
    expect(crd.stdout).toBe(secret.stdout);
  });
}

function jsonPath(path: string): string {
  return `jsonpath={${path}}`;
}
