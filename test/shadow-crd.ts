import { CRD_NAME, GROUP, KIND, PLURAL, SINGULAR } from '../runtime/api/shadow/names.ts';
import { crdSchema } from '../runtime/api/shadow/schema.ts';

const V2 = crdSchema('v2');

/** The definition of shadows as clusters of tests have it: of one version, without the conversion that only a real process could answer. */
export function shadowCrd(openAPIV3Schema: object = V2): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: CRD_NAME },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind: KIND, listKind: `${KIND}List`, plural: PLURAL, singular: SINGULAR },
      versions: [
        { name: 'v2', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } },
      ],
    },
  };
}
