import { readFileSync } from 'node:fs';
import type { GoProgram } from '../../../tools/go/build.ts';

/** Of `KUBERNETES`: the newest and the oldest version that the suites run on, each in a Go module of its own. */
const MODULES: Readonly<Record<string, string>> = { newest: 'kubernetes', oldest: 'kubernetes-oldest' };
const MODULE = moduleOf(process.env['KUBERNETES'] || 'newest');

function moduleOf(version: string): string {
  const module = MODULES[version];
  if (module === undefined) throw new Error(`KUBERNETES: expected newest or oldest, got ${version}`);
  return module;
}

/**
 * The oldest finds no EndpointSlices, and its controllers overwrite the Endpoints of a Service whose pods have no address: webhooks are dialled at
 * their Services' addresses, which the scenarios give to loopback.
 */
export const DIALS_SERVICES = MODULE === MODULES['oldest'];

const VERSION = 'k8s.io/component-base/version';
/** A build from a module has no git behind it, and clients refuse to talk to a server of version 0. */
const KUBERNETES_VERSION = versionVariables(
  readFileSync(new URL(`../../../tools/go/modules/${MODULE}/go.mod`, import.meta.url), 'utf8'),
);

function versionVariables(goMod: string): Readonly<Record<string, string>> {
  const [, gitVersion, gitMajor, gitMinor] = /^\s*k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/m.exec(goMod) ?? [];
  if (!gitVersion || !gitMajor || !gitMinor)
    throw new Error('go.mod: expected a version of k8s.io/kubernetes, got none');
  return {
    [`${VERSION}.gitVersion`]: gitVersion,
    [`${VERSION}.gitMajor`]: gitMajor,
    [`${VERSION}.gitMinor`]: gitMinor,
  };
}

/** A program of Kubernetes' own, of the version of the control plane. */
export const kubernetes = (name: string): GoProgram => ({
  name,
  module: MODULE,
  package: `k8s.io/kubernetes/cmd/${name}`,
  variables: KUBERNETES_VERSION,
});

export const certManager = (name: string, command: string): GoProgram => ({
  name,
  module: 'cert-manager',
  package: `github.com/cert-manager/cert-manager/cmd/${command}`,
});

/** In the order in which they are built. */
export const PROGRAMS: readonly GoProgram[] = [
  kubernetes('kube-apiserver'),
  { name: 'etcd', module: MODULE, package: 'go.etcd.io/etcd/server/v3' },
  kubernetes('kubectl'),
  kubernetes('kube-controller-manager'),
  kubernetes('kube-scheduler'),
  certManager('cert-manager', 'controller'),
  certManager('cainjector', 'cainjector'),
  { name: 'kwok', module: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' },
];
