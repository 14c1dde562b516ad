import type { Candidate } from '../candidate.ts';
import { at, fields, type Fields, type KubeJson, list, text } from '../object.ts';
import { type Cause, notImplemented } from '../status.ts';
import { isKnownRule } from './rules.ts';
import { type Schema, schemas } from './schema.ts';

/** What is wrong with a CustomResourceDefinition, whose status may say what it likes. @throws StatusError 501 for most rules in CEL, and for keywords that are not known here */
export function crdFaults({ object, subresource }: Candidate): readonly Cause[] {
  if (subresource === 'status') return [];
  const spec = fields(object['spec']);
  const versions = list(spec['versions']).map(fields);
  versions.forEach((version) => refuseUnknown(fields(schemaOf(version))));
  const name = `${text(at(spec, 'names', 'plural'))}.${text(spec['group'])}`;
  const stored = versions.filter((version) => version['storage'] === true).map((version) => version['name']);
  const unschemed = versions.findIndex((version) => schemaOf(version) === undefined);
  const scopes = ['Namespaced', 'Cluster'];
  return [
    ...(object.metadata.name === name ? [] : [fault('metadata.name', `must be spec.names.plural+"."+spec.group`)]),
    ...(stored.length === 1 ? [] : [fault('spec.versions', 'must have exactly one version marked as storage version')]),
    ...(unschemed < 0 ? [] : [fault(`spec.versions[${unschemed}].schema.openAPIV3Schema`, 'schemas are required')]),
    ...(scopes.includes(text(spec['scope'])) ? [] : [fault('spec.scope', 'supported values: "Cluster", "Namespaced"')]),
    ...(stored.length === 1 ? storedFaults(object, versions, stored[0]) : []),
  ];
}

/** Objects may still be stored in every version that the status lists. */
function storedFaults(object: KubeJson, versions: readonly Fields[], storage: unknown): readonly Cause[] {
  const kept = list(at(object, 'status', 'storedVersions'));
  const gone = kept.findIndex((name) => !versions.some((version) => version['name'] === name));
  return [
    ...(gone < 0 ? [] : [fault(`status.storedVersions[${gone}]`, 'must appear in spec.versions')]),
    ...(kept.includes(storage)
      ? []
      : [fault('status.storedVersions', `must have the storage version ${text(storage)}`)]),
  ];
}

/** What no definition uses that is applied here. */
const LACKING = 'allOf not multipleOf uniqueItems minProperties exclusiveMinimum exclusiveMaximum'.split(' ');

function refuseUnknown(schema: Schema): void {
  for (const inner of schemas(schema)) {
    const rules = inner['x-kubernetes-validations'] ?? [];
    if (!rules.every(isKnownRule)) throw notImplemented('validation rules in CEL (x-kubernetes-validations)');
    const lacking = LACKING.find((keyword) => keyword in inner);
    if (lacking !== undefined) throw notImplemented(`schemas with ${lacking}`);
  }
}

function fault(field: string, why: string): Cause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${why}` };
}

function schemaOf(version: Fields): unknown {
  return at(version, 'schema', 'openAPIV3Schema');
}
