import { DECIDED_ANNOTATION } from '../runtime/api/release/decided.ts';
import type { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import {
  RELEASE_CRD_NAME,
  RELEASE_KIND,
  RELEASE_PLURAL,
  RELEASE_SHORT_NAME,
  RELEASE_SINGULAR,
  RELEASE_VERSION,
} from '../runtime/api/release/names.ts';
import { releaseCrdSchema } from '../runtime/api/release/schema.ts';
import { addClusterCrd, type Column, column, wide } from './cluster-crd.ts';
import type { Settings } from './props/brupop.ts';

/** The CustomResourceDefinition of BottlerocketRelease. */
export const addReleaseCrd = (scope: Construct, id: string, settings: Settings): ApiObject =>
  addClusterCrd(scope, id, {
    settings,
    name: RELEASE_CRD_NAME,
    kind: RELEASE_KIND,
    plural: RELEASE_PLURAL,
    singular: RELEASE_SINGULAR,
    shortName: RELEASE_SHORT_NAME,
    version: RELEASE_VERSION,
    columns: COLUMNS,
    schema: releaseCrdSchema(),
  });

const COLUMNS: Column[] = [
  column('Version', 'string', '.spec.version'),
  column('Family', 'string', '.spec.family'),
  column('Decision', 'string', '.spec.decision'),
  column('State', 'string', '.status.state'),
  column('Failed', 'integer', '.status.failed'),
  wide(column('First Offered', 'date', '.status.firstOfferedAt')),
  wide(column('Decided', 'string', `.metadata.annotations.${DECIDED_ANNOTATION.replaceAll('.', String.raw`\.`)}`)),
  wide(column('Message', 'string', '.status.message')),
  column('Age', 'date', '.metadata.creationTimestamp'),
];
