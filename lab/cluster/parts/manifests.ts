import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inTemporaryFolder } from '../../../tools/image/downloads.ts';
import { run } from '../../../tools/image/run.ts';
import { binaries, type BuildOptions, requiredVersion, sourceFolder } from '../../../tools/go/build.ts';
import { HELM } from '../../../tools/go/helm.ts';
import { corednsImage } from './images.ts';

const CERT_MANAGER = 'github.com/cert-manager/cert-manager';
const NAMESPACE = 'cert-manager';
const namespace = `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${NAMESPACE}\n`;

export interface ClusterDns {
  /** Address of the Service, as kubelets tell it to pods. */
  readonly address: string;
  /** e.g. `cluster.local` */
  readonly domain: string;
}

/**
 * CoreDNS as Kubernetes' own add-on runs it, in `kube-system`, but that it knows nobody to ask outside of the cluster: there is none.
 * @throws Error where the add-on is not as expected
 */
export async function corednsManifest({ address, domain }: ClusterDns, { env }: BuildOptions): Promise<string> {
  const module = await sourceFolder('kubernetes', 'k8s.io/kubernetes', env);
  const addon = await readFile(join(module, 'cluster/addons/dns/coredns/coredns.yaml.sed'), 'utf8');
  const values: readonly (readonly [RegExp, string])[] = [
    [/\$DNS_SERVER_IP/g, address],
    [/\$DNS_DOMAIN/g, domain],
    [/\$DNS_MEMORY_LIMIT/g, '170Mi'],
    [/^ +forward [^}]*}\n/gm, ''],
    [/^ +loop\n/gm, ''],
    [/registry\.k8s\.io\/coredns\/coredns:\S+/g, await corednsImage()],
  ];
  return values.reduce((text, [pattern, value]) => replaced(text, pattern, value), addon);
}

function replaced(text: string, pattern: RegExp, value: string): string {
  if (text.search(pattern) === -1) throw new Error(`the add-on of CoreDNS has no ${pattern.source}`);
  return text.replaceAll(pattern, () => value);
}

/**
 * What cert-manager's chart installs into the namespace `cert-manager`, with its definitions and the namespace itself. The chart's job that
 * asks whether all of it works is left out: it wants one more image, and who installs waits for the webhook anyway.
 */
export async function certManagerManifest(options: BuildOptions): Promise<string> {
  const { env } = options;
  const source = await sourceFolder('cert-manager', CERT_MANAGER, env);
  const version = await requiredVersion('cert-manager', CERT_MANAGER);
  const { helm = '' } = await binaries(options, [HELM]);
  return inTemporaryFolder(async (dir) => {
    const chart = join(dir, 'chart');
    // The module is read-only, and so would be a copy that keeps its modes.
    await run('cp', ['-r', '--no-preserve=mode', join(source, 'deploy/charts/cert-manager'), chart]);
    const definitions = globSync('deploy/crds/*.yaml', { cwd: source }).map((name) => join(source, name));
    await run('cp', ['--no-preserve=mode', ...definitions, join(chart, 'templates')]);
    const template = await readFile(join(chart, 'Chart.template.yaml'), 'utf8');
    await writeFile(join(chart, 'Chart.yaml'), template.replaceAll('v0.1.0', version));
    const values = 'installCRDs=true,startupapicheck.enabled=false';
    const flags = ['--namespace', NAMESPACE, '--set', values];
    return `${namespace}---\n${await run(helm, ['template', 'cert-manager', chart, ...flags], { env })}`;
  });
}
