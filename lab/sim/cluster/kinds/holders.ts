import { fields, type KubeJson, list, type Meta } from '../object.ts';
import { type Cause, forbiddenValue, invalidValue } from '../status.ts';

/** Finalizers of the server's own. */
const STANDARD = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);
const QUALIFIED = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;

interface Held {
  readonly object: KubeJson;
  readonly before?: KubeJson;
  /** Finalizers of custom resources need no domain, nor do those of their definitions. */
  readonly custom: boolean;
}

/** What is wrong with those who hold an object, its finalizers and its controllers. */
export function holderFaults({ object, before, custom }: Held): readonly Cause[] {
  const { finalizers = [], ownerReferences } = object.metadata;
  const anyName = custom || object.kind === 'CustomResourceDefinition';
  return [
    ...(anyName ? [] : finalizers.filter((name) => !isFinalizer(name)).map(unqualified)),
    ...lateFaults(finalizers, before?.metadata),
    ...controllerFaults(list(ownerReferences)),
  ];
}

/** A name with a domain before it. */
function isFinalizer(name: string): boolean {
  return STANDARD.has(name) || QUALIFIED.test(name);
}

function unqualified(name: string): Cause {
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return invalidValue('metadata.finalizers', name, why);
}

function lateFaults(finalizers: readonly string[], before: Meta | undefined): readonly Cause[] {
  const late = finalizers.filter((name) => before?.finalizers?.includes(name) !== true);
  if (before?.deletionTimestamp === undefined || late.length === 0) return [];
  const why = `no new finalizers can be added if the object is being deleted, found ${JSON.stringify(late)}`;
  return [forbiddenValue('metadata.finalizers', why)];
}

function controllerFaults(owners: readonly unknown[]): readonly Cause[] {
  if (owners.filter((owner) => fields(owner)['controller'] === true).length <= 1) return [];
  return [invalidValue('metadata.ownerReferences', owners, 'Only one reference can have Controller set to true')];
}
