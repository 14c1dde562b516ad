import type { Selectors } from '../kube/collection.ts';
import { ApiStatusError } from '../kube/errors.ts';
import { COMPONENT_LABEL } from '../shadow/names.ts';

/** What was read, or a fallback where the API server refused the read (403). */
export interface Read<T> {
  readonly value: T;
  /** The API server's message; undefined where it did not refuse. */
  readonly refused: string | undefined;
}

/** Reads what the user may read. Where one kind is refused, a command can still show the rest. */
export async function ifAllowed<T, O>(reading: Promise<T>, otherwise: O): Promise<Read<T | O>> {
  try {
    return { value: await reading, refused: undefined };
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status.code !== 403) throw error;
    return { value: otherwise, refused: error.status.message ?? 'Forbidden' };
  }
}

/** Selects the objects of one component of the operator. */
export function selecting(component: string): Selectors {
  return { labelSelector: `${COMPONENT_LABEL}=${component}` };
}
