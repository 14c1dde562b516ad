import { readFileSync } from 'node:fs';
import type { GoProgram } from '../../../tools/go/build.ts';

const VERSION = 'k8s.io/component-base/version';
/** A build from a module has no git behind it, and clients refuse to talk to a server of version 0. */
const KUBERNETES_VERSION = versionVariables(
  readFileSync(new URL('../../../tools/go/modules/kubernetes/go.mod', import.meta.url), 'utf8'),
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
  module: 'kubernetes',
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
  { name: 'etcd', module: 'kubernetes', package: 'go.etcd.io/etcd/server/v3' },
  kubernetes('kubectl'),
  kubernetes('kube-controller-manager'),
  kubernetes('kube-scheduler'),
  certManager('cert-manager', 'controller'),
  certManager('cainjector', 'cainjector'),
  { name: 'kwok', module: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' },
];
