import {
  APISERVER_SERVICE,
  CRD_NAME,
  GROUP,
  KIND,
  NAMESPACE,
  PLURAL,
  SHORT_NAME,
  SINGULAR,
} from '../../runtime/api/shadow/names.ts';
import { STATES, STATES_V1 } from '../../runtime/api/shadow/states.ts';
import type { Manifest } from '../../lab/sim/world/manifests.ts';

type Schema = Readonly<Record<string, unknown>>;

const TEXT = { type: 'string' };
const MAYBE_TEXT = { ...TEXT, nullable: true };

function schema(states: readonly string[], failures: Schema): { readonly openAPIV3Schema: object } {
  const state = { ...TEXT, enum: states };
  const status = { current_state: state, current_version: TEXT, target_version: TEXT };
  return {
    openAPIV3Schema: {
      type: 'object',
      required: ['spec'],
      properties: {
        spec: {
          type: 'object',
          required: ['state'],
          properties: { state, state_transition_timestamp: MAYBE_TEXT, version: MAYBE_TEXT },
        },
        status: {
          type: 'object',
          nullable: true,
          required: [...Object.keys(status), ...('crash_count' in failures ? ['crash_count'] : [])],
          properties: { ...status, ...failures },
        },
      },
    },
  };
}

const column = (name: string, jsonPath: string, type = 'string'): object => ({ name, jsonPath, type });
const COLUMNS = [
  column('State', '.status.current_state'),
  column('Version', '.status.current_version'),
  column('Target State', '.spec.state'),
  column('Target Version', '.spec.version'),
];
const served = { served: true, subresources: { status: {} } };

const V1 = { name: 'v1', ...served, schema: schema(STATES_V1, {}), additionalPrinterColumns: COLUMNS };
const FAILURES = {
  crash_count: { type: 'integer', format: 'uint32', minimum: 0 },
  state_transition_failure_timestamp: MAYBE_TEXT,
};
const SCHEMA_V2 = schema(STATES, FAILURES);
/** That of v2. */
export const OLDER_SCHEMA = SCHEMA_V2.openAPIV3Schema;
const V2 = {
  name: 'v2',
  ...served,
  schema: SCHEMA_V2,
  additionalPrinterColumns: [...COLUMNS, column('Crash Count', '.status.crash_count', 'integer')],
};

function crd(spec: object, annotations: Readonly<Record<string, string>> = {}): Manifest {
  const names = { kind: KIND, plural: PLURAL, singular: SINGULAR, shortNames: [SHORT_NAME] };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: CRD_NAME, annotations },
    spec: { group: GROUP, names, scope: 'Namespaced', ...spec },
  };
}

/** The definition of the oldest installations: v1 alone, and stored. */
export const CRD_OF_V1: Manifest = crd({ versions: [{ ...V1, storage: true }] });

/** The definition of the last ones: v2 is stored, the webhook converts, and nobody injects a CA, because the named certificate is not there. */
export const CRD_OF_V2: Manifest = crd(
  {
    versions: [
      { ...V2, storage: true },
      { ...V1, storage: false },
    ],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { service: { name: APISERVER_SERVICE, namespace: NAMESPACE, path: '/crdconvert', port: 443 } },
        conversionReviewVersions: ['v2', 'v1'],
      },
    },
  },
  { 'cert-manager.io/inject-ca-from': `${NAMESPACE}/root-certificate` },
);
