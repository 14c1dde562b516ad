import type { Selectors } from '../kube/collection.ts';
import { ApiStatusError } from '../kube/errors.ts';
import { COMPONENT_LABEL } from '../shadow/names.ts';

/** What was read, or what is taken instead where the reader may not read it. */
export interface Read<T> {
  readonly value: T;
  /** The API server's words; undefined where it was read. */
  readonly refused: string | undefined;
}

/** People who may see nodes may not always see all else: where one kind is refused, the rest can still be told. */
export async function ifAllowed<T, O>(reading: Promise<T>, otherwise: O): Promise<Read<T | O>> {
  try {
    return { value: await reading, refused: undefined };
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status.code !== 403) throw error;
    return { value: otherwise, refused: error.status.message ?? 'Forbidden' };
  }
}

/** Of the objects of one of the operator's parts. */
export function selecting(component: string): Selectors {
  return { labelSelector: `${COMPONENT_LABEL}=${component}` };
}
