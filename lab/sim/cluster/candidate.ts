import type { KubeJson } from './object.ts';
import type { ResourceType } from './resources.ts';

/** How a write is to be made; from the query. */
export interface WriteOptions {
  /** Everything is checked and answered, nothing is stored. */
  readonly dryRun: boolean;
  /** What happens with fields that the kind does not have. */
  readonly fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Sentences for the client are added here. */
  readonly warnings: string[];
  readonly patch: boolean;
}

/** What is about to be stored. */
export interface Candidate {
  readonly type: ResourceType;
  readonly object: KubeJson;
  /** Absent for a creation. */
  readonly before?: KubeJson;
  /** Through which the write comes. */
  readonly subresource?: string | undefined;
}
