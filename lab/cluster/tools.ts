import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { debianFolder } from '../../tools/debian.ts';
import type { BuildOptions } from '../../tools/go/build.ts';
import { nodePrograms } from './parts/programs.ts';

/** What a node runs with: programs of Kubernetes' and containerd's, and Debian's below them. */
export interface NodeTools {
  /** For a node's PATH: everything that is found by its name. */
  readonly path: string;
  readonly containerd: string;
  readonly ctr: string;
  readonly kubeProxy: string;
  readonly runc: string;
  /** Folder of the CNI's plugins. */
  readonly plugins: string;
}

/** runc, the CNI's plugins, and iptables with its libraries. */
const PACKAGES = [
  'runc',
  'containernetworking-plugins',
  'iptables',
  'libip4tc2',
  'libip6tc2',
  'libmnl0',
  'libnetfilter-conntrack3',
  'libnfnetlink0',
  'libnftnl11',
  'libxtables12',
];
const IPTABLES = ['iptables', 'iptables-save', 'iptables-restore'];
const FAMILIES = ['ip', 'ip6'];

/**
 * Finds everything, and builds or downloads what is missing.
 * @throws Error with what this machine lacks
 */
export async function nodeTools(options: BuildOptions): Promise<NodeTools> {
  const { containerd = '', ctr = '', kubelet = '', 'kube-proxy': kubeProxy = '' } = await nodePrograms(options);
  const debian = await debianFolder(PACKAGES, options);
  const bin = join(debian, '..', 'bin');
  await writeIptables(debian, bin);
  const folders = [bin, ...new Set([containerd, kubelet].map((file) => dirname(file)))];
  return {
    path: [...folders, '/usr/sbin', '/usr/bin', '/sbin', '/bin'].join(delimiter),
    containerd,
    ctr,
    kubeProxy,
    runc: join(debian, 'usr', 'sbin', 'runc'),
    plugins: join(debian, 'usr', 'lib', 'cni'),
  };
}

/** Programs by these names that find their libraries where they are, and no other program's. */
async function writeIptables(debian: string, bin: string): Promise<void> {
  const lib = join(debian, 'usr', 'lib', `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`);
  const program = join(debian, 'usr', 'sbin', 'xtables-nft-multi');
  await mkdir(bin, { recursive: true });
  for (const name of IPTABLES.flatMap((one) => FAMILIES.map((family) => one.replace(/^ip/, family)))) {
    const script = `#!/bin/sh\nLD_LIBRARY_PATH='${lib}' XTABLES_LIBDIR='${lib}/xtables' exec '${program}' ${name} "$@"\n`;
    await writeFile(join(bin, name), script);
    await chmod(join(bin, name), 0o755);
  }
}
