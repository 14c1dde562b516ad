import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { NOTIFICATION_RULE } from '../../infra/rules.ts';
import { POLICY_CRD_NAME } from '../../runtime/api/policy/names.ts';
import { ADMIN, type EmbeddedCluster } from '../sim/cluster/cluster.ts';
import { applyAll, type Manifest } from '../sim/world/manifests.ts';

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
  .filter(({ kind }) => KINDS.has(kind))
  .map(granted);

/** With what settings grant that storms draw. */
function granted(manifest: Manifest & { readonly rules?: readonly object[] }): Manifest {
  if (manifest.kind !== 'Role' || manifest.metadata.name !== 'brupop-controller-role') return manifest;
  return { ...manifest, rules: [...(manifest.rules ?? []), NOTIFICATION_RULE] };
}

/** Whether it is the definition of policies, which may be missing where only a part of the manifests was applied. */
const definesPolicies = ({ metadata }: Manifest): boolean => metadata.name === POLICY_CRD_NAME;

/** Installs the operator as its manifests have it, so that each process has the rights that it has in a cluster, and no others; but not the kind of its policies. */
export const install = (cluster: EmbeddedCluster): Promise<void> =>
  apply(
    cluster,
    MANIFESTS.filter((manifest) => !definesPolicies(manifest)),
  );

/** Installs the kind of its policies. */
export const definePolicies = (cluster: EmbeddedCluster): Promise<void> =>
  apply(cluster, MANIFESTS.filter(definesPolicies));

const apply = (cluster: EmbeddedCluster, manifests: readonly Manifest[]): Promise<void> =>
  applyAll(cluster.transport({ ...ADMIN, username: 'installer' }), manifests);
