import type { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import {
  POLICY_CRD_NAME,
  POLICY_KIND,
  POLICY_PLURAL,
  POLICY_SHORT_NAME,
  POLICY_SINGULAR,
  POLICY_VERSION,
} from '../runtime/api/policy/names.ts';
import type { PolicyConditionType } from '../runtime/api/policy/model.ts';
import { policyCrdSchema } from '../runtime/api/policy/schema.ts';
import { addClusterCrd, type Column, column, wide } from './cluster-crd.ts';
import type { Settings } from './props/brupop.ts';

/** The CustomResourceDefinition of BottlerocketUpdatePolicy. */
export const addPolicyCrd = (scope: Construct, id: string, settings: Settings): ApiObject =>
  addClusterCrd(scope, id, {
    settings,
    name: POLICY_CRD_NAME,
    kind: POLICY_KIND,
    plural: POLICY_PLURAL,
    singular: POLICY_SINGULAR,
    shortName: POLICY_SHORT_NAME,
    version: POLICY_VERSION,
    columns: COLUMNS,
    schema: policyCrdSchema(),
  });

const nodes = (name: string, field: string) => column(name, 'integer', `.status.nodes.${field}`);
const condition = (type: PolicyConditionType, field: 'message' | 'reason' | 'status', name: string = type) =>
  column(name, 'string', `.status.conditions[?(@.type=="${type}")].${field}`);

const COLUMNS: Column[] = [
  column('Priority', 'integer', '.spec.priority'),
  condition('Accepted', 'status'),
  nodes('Nodes', 'selected'),
  nodes('Up-To-Date', 'upToDate'),
  nodes('Updating', 'updating'),
  nodes('Failed', 'failed'),
  column('Paused', 'boolean', '.spec.paused'),
  condition('Halted', 'status'),
  condition('Progressing', 'reason'),
  wide(nodes('Waiting', 'waiting')),
  wide(column('Next Change', 'string', '.status.nextChangeAt')),
  wide(condition('Progressing', 'message', 'Message')),
  column('Age', 'date', '.metadata.creationTimestamp'),
];
