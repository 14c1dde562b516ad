import { type ApiObject, JsonPatch } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import {
  RELEASE_CRD_NAME,
  RELEASE_KIND,
  RELEASE_PLURAL,
  RELEASE_SHORT_NAME,
  RELEASE_SINGULAR,
  RELEASE_VERSION,
} from '../runtime/release/names.ts';
import { releaseCrdSchema } from '../runtime/release/schema.ts';
import { GROUP } from '../runtime/shadow/names.ts';
import { manifest } from './manifest.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/** The CustomResourceDefinition of BottlerocketRelease. It has one version, so nobody converts it. */
export function addReleaseCrd(scope: Construct, id: string, settings: Settings): ApiObject {
  const names = {
    kind: RELEASE_KIND,
    listKind: `${RELEASE_KIND}List`,
    plural: RELEASE_PLURAL,
    singular: RELEASE_SINGULAR,
    shortNames: [RELEASE_SHORT_NAME],
  };
  const served = { name: RELEASE_VERSION, served: true, storage: true, subresources: { status: {} } };
  const definition = addObject(
    scope,
    id,
    manifest('CustomResourceDefinition', {
      metadata: globalMeta(settings, { name: RELEASE_CRD_NAME, annotations: settings.crdAnnotations }),
      spec: {
        group: GROUP,
        names,
        scope: 'Cluster',
        versions: [{ ...served, additionalPrinterColumns: COLUMNS }],
      },
    }),
  );
  // A typed manifest drops fields like `x-kubernetes-validations`.
  definition.addJsonPatch(JsonPatch.add('/spec/versions/0/schema', { openAPIV3Schema: releaseCrdSchema() }));
  return definition;
}

type Column = k8s.CustomResourceColumnDefinition;

const column = (name: string, type: string, jsonPath: string): Column => ({ name, type, jsonPath });
/** Seen with `kubectl get -o wide` alone. */
const wide = (shown: Column): Column => ({ ...shown, priority: 1 });

const COLUMNS: Column[] = [
  column('Version', 'string', '.spec.version'),
  column('Family', 'string', '.spec.family'),
  column('Decision', 'string', '.spec.decision'),
  column('State', 'string', '.status.state'),
  column('Failed', 'integer', '.status.failed'),
  wide(column('First Offered', 'date', '.status.firstOfferedAt')),
  wide(column('Message', 'string', '.status.message')),
  column('Age', 'date', '.metadata.creationTimestamp'),
];
