import { ConflictError } from '../../../runtime/kube/errors.ts';
import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { BUILT_IN_RESOURCES } from '../cluster/resources.ts';
import { mergePatch } from '../kubernetes/pods.ts';

/** Any Kubernetes object as a manifest holds it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

interface CrdManifest extends Manifest {
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: { readonly kind: string; readonly plural: string };
  };
}

interface Served {
  readonly plural: string;
  readonly namespaced: boolean;
}

/** What the rest stands on comes first, as `kubectl apply` of a folder does it by luck of names. */
const FIRST = new Set(['CustomResourceDefinition', 'Namespace']);

/** Creates each object, or brings an existing one to what the manifest says. */
export async function applyAll(transport: KubeTransport, manifests: readonly Manifest[]): Promise<void> {
  const crds = manifests.filter((manifest): manifest is CrdManifest => manifest.kind === 'CustomResourceDefinition');
  const first = manifests.filter(({ kind }) => FIRST.has(kind));
  const rest = manifests.filter(({ kind }) => !FIRST.has(kind));
  for (const manifest of [...first, ...rest]) await apply(transport, manifest, served(manifest, crds));
}

async function apply(transport: KubeTransport, manifest: Manifest, { plural, namespaced }: Served): Promise<void> {
  const [version = '', group = ''] = manifest.apiVersion.split('/').toReversed();
  const namespace = namespaced ? (manifest.metadata.namespace ?? 'default') : undefined;
  const path = collectionPath({ group, version, plural, namespace });
  // A field that nobody knows is a mistake in a manifest, not one to be dropped in silence.
  const query = { fieldValidation: 'Strict' };
  try {
    await transport.request({ method: 'POST', path, query, body: manifest });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    await transport.request({ ...mergePatch(objectPath(path, manifest.metadata.name), manifest), query });
  }
}

function served({ apiVersion, kind }: Manifest, crds: readonly CrdManifest[]): Served {
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  const builtIn = BUILT_IN_RESOURCES.find((resource) => resource.kind === kind && resource.group === group);
  if (builtIn) return builtIn;
  const crd = crds.find(({ spec }) => spec.names.kind === kind && spec.group === group);
  if (!crd) throw new Error(`the embedded cluster serves no ${kind} of ${apiVersion}`);
  return { plural: crd.spec.names.plural, namespaced: crd.spec.scope === 'Namespaced' };
}
