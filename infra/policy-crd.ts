import { type ApiObject, JsonPatch } from 'cdk8s';
import type { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import {
  POLICY_CRD_NAME,
  POLICY_KIND,
  POLICY_PLURAL,
  POLICY_SHORT_NAME,
  POLICY_SINGULAR,
  POLICY_VERSION,
} from '../runtime/policy/names.ts';
import type { PolicyConditionType } from '../runtime/policy/model.ts';
import { policyCrdSchema } from '../runtime/policy/schema.ts';
import { GROUP } from '../runtime/shadow/names.ts';
import { manifest } from './manifest.ts';
import { addObject, globalMeta } from './objects.ts';
import type { Settings } from './props/brupop.ts';

/** The CustomResourceDefinition of BottlerocketUpdatePolicy. It has one version, so nobody converts it. */
export function addPolicyCrd(scope: Construct, id: string, settings: Settings): ApiObject {
  const definition = addObject(
    scope,
    id,
    manifest('CustomResourceDefinition', {
      metadata: globalMeta(settings, { name: POLICY_CRD_NAME, annotations: settings.crdAnnotations }),
      spec: {
        group: GROUP,
        names: {
          kind: POLICY_KIND,
          listKind: `${POLICY_KIND}List`,
          plural: POLICY_PLURAL,
          singular: POLICY_SINGULAR,
          shortNames: [POLICY_SHORT_NAME],
        },
        scope: 'Cluster',
        versions: [
          {
            name: POLICY_VERSION,
            served: true,
            storage: true,
            subresources: { status: {} },
            additionalPrinterColumns: COLUMNS,
          },
        ],
      },
    }),
  );
  // A typed manifest drops fields like `x-kubernetes-int-or-string`.
  definition.addJsonPatch(JsonPatch.add('/spec/versions/0/schema', { openAPIV3Schema: policyCrdSchema() }));
  return definition;
}

type Column = k8s.CustomResourceColumnDefinition;

const column = (name: string, type: string, jsonPath: string): Column => ({ name, type, jsonPath });
const nodes = (name: string, field: string) => column(name, 'integer', `.status.nodes.${field}`);
const condition = (type: PolicyConditionType, field: 'message' | 'reason' | 'status', name: string = type) =>
  column(name, 'string', `.status.conditions[?(@.type=="${type}")].${field}`);
/** Seen with `kubectl get -o wide` alone. */
const wide = (shown: Column): Column => ({ ...shown, priority: 1 });

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
