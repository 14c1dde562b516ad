import { type ApiObject, JsonPatch } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import { GROUP } from '../runtime/api/shadow/names.ts';
import { manifest } from './manifest.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

export type Column = k8s.CustomResourceColumnDefinition;

export const column = (name: string, type: string, jsonPath: string): Column => ({ name, type, jsonPath });
/** Seen with `kubectl get -o wide` alone. */
export const wide = (shown: Column): Column => ({ ...shown, priority: 1 });

interface ClusterKind {
  readonly settings: Settings;
  /** Of the definition. */
  readonly name: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortName: string;
  readonly version: string;
  readonly columns: Column[];
  readonly schema: object;
}

/** The CustomResourceDefinition of a kind without a namespace. It has one version, so nobody converts it. */
export function addClusterCrd(scope: Construct, id: string, of: ClusterKind): ApiObject {
  const { settings, name, kind, plural, singular, shortName, version, columns, schema } = of;
  const served = { name: version, served: true, storage: true, subresources: { status: {} } };
  const definition = addObject(
    scope,
    id,
    manifest('CustomResourceDefinition', {
      metadata: globalMeta(settings, { name, annotations: settings.crdAnnotations }),
      spec: {
        group: GROUP,
        names: { kind, listKind: `${kind}List`, plural, singular, shortNames: [shortName] },
        scope: 'Cluster',
        versions: [{ ...served, additionalPrinterColumns: columns }],
      },
    }),
  );
  // A typed manifest drops fields like `x-kubernetes-validations` and `x-kubernetes-int-or-string`.
  definition.addJsonPatch(JsonPatch.add('/spec/versions/0/schema', { openAPIV3Schema: schema }));
  return definition;
}
