import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { ADMIN, type EmbeddedCluster } from '../../sim/cluster/cluster.ts';
import { applyAll, type Manifest } from '../../sim/world/manifests.ts';

/** What the API server itself has to know of the operator. What runs is the environment's. */
const KINDS: ReadonlySet<string> = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'Role',
  'RoleBinding',
]);

let manifests: readonly Manifest[] | undefined;

/** Installs the operator as its manifests have it, so that each process has the rights that it has in a cluster, and no others. */
export async function install(cluster: EmbeddedCluster): Promise<void> {
  manifests ??= parseAllDocuments(readFileSync('dist/brupop.k8s.yaml', 'utf8'))
    .map((document) => document.toJS() as Manifest)
    .filter(({ kind }) => KINDS.has(kind));
  await applyAll(cluster.transport({ ...ADMIN, username: 'installer' }), manifests);
}
