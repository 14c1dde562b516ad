import {
  RELEASE_CRD_NAME,
  RELEASE_KIND,
  RELEASE_PLURAL,
  RELEASE_SINGULAR,
  RELEASE_VERSION,
} from '../runtime/api/release/names.ts';
import { releaseCrdSchema } from '../runtime/api/release/schema.ts';
import { GROUP } from '../runtime/api/shadow/names.ts';

const SCHEMA = releaseCrdSchema();

/** The definition of releases as clusters of tests have it. */
export const releaseCrd = (): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: RELEASE_CRD_NAME },
  spec: {
    group: GROUP,
    scope: 'Cluster',
    names: { kind: RELEASE_KIND, listKind: `${RELEASE_KIND}List`, plural: RELEASE_PLURAL, singular: RELEASE_SINGULAR },
    versions: [
      {
        name: RELEASE_VERSION,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: SCHEMA },
      },
    ],
  },
});
