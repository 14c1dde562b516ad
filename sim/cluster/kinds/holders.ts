import { fields, list, type KubeJson, text } from '../object.ts';
import { type Cause, invalidValue } from '../status.ts';

/** Finalizers of the server's own. */
const STANDARD = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);
const QUALIFIED = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;

interface Held {
  readonly object: KubeJson;
  readonly before?: KubeJson;
  /** Finalizers of custom resources need no domain. */
  readonly custom: boolean;
}

/** What is wrong with those who hold an object, its finalizers and its controllers. */
export function holderFaults({ object, before, custom }: Held): readonly Cause[] {
  const { finalizers = [], ownerReferences = [] } = object.metadata;
  const controllers = list(ownerReferences).filter((owner) => fields(owner)['controller'] === true);
  return [
    ...(custom ? [] : finalizers.filter((name) => !isFinalizer(name)).map(unqualified)),
    ...(before?.metadata.deletionTimestamp === undefined ? [] : lateFaults(finalizers, before.metadata.finalizers)),
    ...(controllers.length > 1
      ? [
          invalidValue(
            'metadata.ownerReferences',
            ownerReferences,
            'Only one reference can have Controller set to true',
          ),
        ]
      : []),
  ];
}

/** A name with a domain; of custom resources' definitions the domain alone. */
function isFinalizer(name: unknown): boolean {
  return STANDARD.has(text(name)) || QUALIFIED.test(text(name)) || DOMAIN.test(text(name));
}

function unqualified(name: string): Cause {
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return invalidValue('metadata.finalizers', name, why);
}

function lateFaults(finalizers: readonly string[], held: readonly string[] = []): readonly Cause[] {
  const late = finalizers.filter((name) => !held.includes(name));
  if (late.length === 0) return [];
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(late)}`;
  return [{ reason: 'FieldValueForbidden', field: 'metadata.finalizers', message }];
}
