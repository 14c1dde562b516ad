import { type Binaries, binaries, type BuildOptions, type GoProgram } from '../../../tools/go/build.ts';
import { certManager, kubernetes } from '../../../test/e2e/controlplane/programs.ts';

const containerd = (name: string): GoProgram => ({
  name,
  module: 'containerd',
  package: `github.com/containerd/containerd/v2/cmd/${name}`,
  tags: ['no_btrfs', 'no_zfs', 'no_devmapper'],
});

/** What runs on a node, beside the pods. */
const NODE_PROGRAMS = [
  containerd('containerd'),
  containerd('containerd-shim-runc-v2'),
  containerd('ctr'),
  kubernetes('kubelet'),
  kubernetes('kube-proxy'),
] as const;

/** What runs in pods, but for cert-manager's controller and cainjector, which the control plane has. */
const POD_PROGRAMS: readonly GoProgram[] = [
  { name: 'pause', module: 'pause', package: '.' },
  { name: 'coredns', module: 'coredns', package: '.' },
  certManager('webhook', 'webhook'),
];

/**
 * Finds what a node runs (containerd, its shim and ctr, kubelet, kube-proxy), and builds what is missing.
 * @throws as `binaries`
 */
export function nodePrograms(options: BuildOptions): Promise<Binaries> {
  return binaries(options, NODE_PROGRAMS);
}

/**
 * Finds what the images hold that every cluster needs (pause, CoreDNS, cert-manager's webhook), and builds what is missing.
 * @throws as `binaries`
 */
export function podPrograms(options: BuildOptions): Promise<Binaries> {
  return binaries(options, POD_PROGRAMS);
}

/** Finds Prometheus, or builds it, which takes longer than all the others. @throws as `binaries` */
export function prometheusProgram(options: BuildOptions): Promise<Binaries> {
  const source = 'github.com/prometheus/prometheus/cmd/prometheus';
  return binaries(options, [{ name: 'prometheus', module: 'prometheus', package: source }]);
}
