import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';

/** As much of an object as is looked at here. */
interface KubeObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // The rest differs by kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [rest: string]: any;
}

/** What an object of a kind may not say otherwise: the API server refuses it, or what runs would no longer be found. */
const FIXED: Readonly<Record<string, (object: KubeObject) => unknown>> = {
  Deployment: ({ spec }) => spec.selector,
  DaemonSet: ({ spec }) => spec.selector,
  Service: ({ spec }) => ({ selector: spec.selector, type: spec.type ?? 'ClusterIP' }),
  PodDisruptionBudget: ({ spec }) => spec.selector,
  ClusterRoleBinding: ({ roleRef }) => roleRef,
  RoleBinding: ({ roleRef }) => roleRef,
  PriorityClass: ({ value, preemptionPolicy }) => ({ value, preemptionPolicy }),
  Certificate: ({ spec }) => ({ secretName: spec.secretName, ...(spec.isCA && { key: spec.privateKey }) }),
  CustomResourceDefinition: ({ spec }) => ({ group: spec.group, names: spec.names, scope: spec.scope }),
};

/** Of an object: what cannot be changed in it, and the versions that older processes and people read and write. */
export interface Fixed {
  readonly fixed: unknown;
  readonly served: readonly string[];
}

/** @returns for each object by its kind, namespace and name */
export function fixedOf(objects: readonly KubeObject[]): Record<string, Fixed> {
  return Object.fromEntries(
    objects.map((object) => [
      `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`,
      { fixed: FIXED[object.kind]?.(object) ?? null, served: servedBy(object) },
    ]),
  );
}

function servedBy({ kind, spec }: KubeObject): string[] {
  if (kind !== 'CustomResourceDefinition') return [];
  return (spec.versions as { name: string; served: boolean }[]).filter(({ served }) => served).map(({ name }) => name);
}

/** Keeps what the release's manifests fix, for the test that the next one can be applied over them. */
export async function writeFixed(root: string): Promise<void> {
  const documents = parseAllDocuments(await readFile(join(root, 'dist/brupop.k8s.yaml'), 'utf8'));
  const objects = documents.map((document) => document.toJS() as KubeObject);
  await writeFile(join(root, 'test/infra/last-release.yaml'), stringify(fixedOf(objects)));
}
