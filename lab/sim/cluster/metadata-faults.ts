import { fields, type Fields, list, type Meta, text } from './object.ts';
import type { ResourceType } from './resources.ts';
import { type Cause, invalidValue } from './status.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const LABEL_NAME = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

/** What is wrong with the metadata of an object that a client sent. */
export function metadataFaults(type: ResourceType, metadata: Meta): readonly Cause[] {
  return [
    ...nameFaults(type, metadata.name),
    ...Object.entries(metadata.labels ?? {}).flatMap(([key, value]) => labelFaults(key, value)),
    ...annotationFaults(metadata.annotations ?? {}),
    ...list(metadata.ownerReferences).flatMap((owner) => ownerFaults(fields(owner))),
    ...controllerFaults(list(metadata.ownerReferences)),
  ];
}

function nameFaults(type: ResourceType, name: string): readonly Cause[] {
  if (name === '') {
    const message = 'Required value: name or generateName is required';
    return [{ reason: 'FieldValueRequired', field: 'metadata.name', message }];
  }
  // Roles and their bindings have names like `system:auth-delegator`.
  if (type.group === 'rbac.authorization.k8s.io') {
    return /[/%]/.test(name) ? [invalidValue('metadata.name', name, "may not contain '/' or '%'")] : [];
  }
  if (SUBDOMAIN.test(name) && name.length <= 253) return [];
  return [invalidValue('metadata.name', name, SUBDOMAIN_WORDS)];
}

function labelFaults(key: string, value: unknown): readonly Cause[] {
  return [
    ...(isQualifiedName(key) ? [] : [invalidValue('metadata.labels', key, 'name part must be a qualified name')]),
    ...(typeof value === 'string' && LABEL_VALUE.test(value)
      ? []
      : [
          invalidValue(
            'metadata.labels',
            value,
            'a valid label must be an empty string or alphanumeric, at most 63 characters',
          ),
        ]),
  ];
}

/** Of all annotations of one object, keys and values together, bytes. */
const ANNOTATIONS_LIMIT = 262_144;

export function annotationFaults(annotations: Readonly<Record<string, string>>): readonly Cause[] {
  const size = sizeOf(annotations);
  const message = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`;
  return [
    ...Object.keys(annotations)
      .filter((key) => !isQualifiedName(key))
      .map((key) => invalidValue('metadata.annotations', key, 'name part must be a qualified name')),
    ...(size > ANNOTATIONS_LIMIT ? [{ reason: 'FieldValueTooLong', field: 'metadata.annotations', message }] : []),
  ];
}

function sizeOf(annotations: Readonly<Record<string, string>>): number {
  let size = 0;
  for (const key of Object.keys(annotations))
    size += Buffer.byteLength(key) + Buffer.byteLength(String(annotations[key]));
  return size;
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf('/');
  return LABEL_NAME.test(key.slice(slash + 1)) && (slash < 0 || SUBDOMAIN.test(key.slice(0, slash)));
}

function ownerFaults(owner: Fields): readonly Cause[] {
  return ['apiVersion', 'kind', 'name', 'uid']
    .filter((key) => text(owner[key]) === '')
    .map((key) => invalidValue(`metadata.ownerReferences.${key}`, '', 'must not be empty'));
}

function controllerFaults(owners: readonly unknown[]): readonly Cause[] {
  if (owners.filter((owner) => fields(owner)['controller'] === true).length <= 1) return [];
  return [invalidValue('metadata.ownerReferences', owners, 'Only one reference can have Controller set to true')];
}
