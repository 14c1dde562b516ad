import type { Node, Pod } from '../../runtime/kube/objects.ts';

/** A state of a Node or a Pod that the API server told of. */
export interface Sighting {
  /** When, in milliseconds since the Unix epoch. */
  readonly atMs: number;
  /** Its last state, where it is gone; then the resourceVersion is not older than its end. */
  readonly object: Node | Pod;
  readonly gone: boolean;
  /** User who wrote this state; absent where that is not known. */
  readonly by?: string;
}
