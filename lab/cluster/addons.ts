import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuildOptions } from '../../tools/go/build.ts';
import { eventually } from '../../test/contract/eventually.ts';
import { kubectl } from '../../test/e2e/kubectl.ts';
import { DNS_ADDRESS } from './network.ts';
import { certManagerManifest, corednsManifest } from './parts/manifests.ts';

/** As kubeadm has it: a node that is drained does not take the names with it. */
const DNS_REPLICAS = 2;

const ISSUER = {
  apiVersion: 'cert-manager.io/v1',
  kind: 'Issuer',
  metadata: { name: 'check', namespace: 'default' },
  spec: { selfSigned: {} },
};

/** What users have in a cluster before they install the operator: the cluster's DNS, and cert-manager. Resolves when both work. */
export async function installAddons(dir: string, options: BuildOptions): Promise<void> {
  const dns = await corednsManifest({ address: DNS_ADDRESS, domain: 'cluster.local' }, options);
  await apply(join(dir, 'coredns.yaml'), dns);
  await kubectl('scale', '-n', 'kube-system', 'deployment/coredns', `--replicas=${DNS_REPLICAS}`);
  await apply(join(dir, 'cert-manager.yaml'), await certManagerManifest(options));
  const available = ['wait', '--for=condition=Available', 'deployment', '--all', '--timeout=180s'];
  await kubectl(...available, '-n', 'kube-system');
  await kubectl(...available, '-n', 'cert-manager');
  // The API server asks cert-manager's webhook by its Service, of which kube-proxy hears a little later.
  const check = join(dir, 'issuer.json');
  await writeFile(check, JSON.stringify(ISSUER));
  await eventually(() => kubectl('apply', '--dry-run=server', '-f', check));
}

async function apply(file: string, manifest: string): Promise<void> {
  await writeFile(file, manifest);
  await kubectl('apply', '-f', file);
}
