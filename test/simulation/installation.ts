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

const MANIFESTS = parseAllDocuments(readFileSync('dist/brupop.k8s.yaml', 'utf8'))
  .map((document) => document.toJS() as Manifest)
  .filter(({ kind }) => KINDS.has(kind));

/** Installs the operator as its manifests have it, so that each process has the rights that it has in a cluster, and no others. */
export function install(cluster: EmbeddedCluster): Promise<void> {
  return applyAll(cluster.transport({ ...ADMIN, username: 'installer' }), MANIFESTS);
}
