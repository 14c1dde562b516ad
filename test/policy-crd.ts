import {
  POLICY_CRD_NAME,
  POLICY_KIND,
  POLICY_PLURAL,
  POLICY_SINGULAR,
  POLICY_VERSION,
} from '../runtime/api/policy/names.ts';
import { policyCrdSchema } from '../runtime/api/policy/schema.ts';
import { GROUP } from '../runtime/api/shadow/names.ts';

const SCHEMA = policyCrdSchema();

/** The definition of policies as clusters of tests have it. */
export function policyCrd(openAPIV3Schema: object = SCHEMA): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: POLICY_CRD_NAME },
    spec: {
      group: GROUP,
      scope: 'Cluster',
      names: { kind: POLICY_KIND, listKind: `${POLICY_KIND}List`, plural: POLICY_PLURAL, singular: POLICY_SINGULAR },
      versions: [
        {
          name: POLICY_VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema },
        },
      ],
    },
  };
}
