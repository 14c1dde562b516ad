import type { PolicyNodes } from '../../policy/model.ts';
import type { OsReleaseName } from './releases.ts';

/** What the status of a policy's resource is made of. */
export interface PolicyReport {
  readonly name: string;
  readonly uid: string;
  /** Of the spec that all of this is about. */
  readonly generation: number;
  readonly nodes: PolicyNodes;
  /** Every release that a node it rules runs, waits for or has failed on. */
  readonly releases: readonly ReleaseReport[];
  readonly accepted: ConditionReport;
  readonly progressing: ConditionReport;
  readonly halted: ConditionReport;
  /** When time alone changes something for its nodes, milliseconds since the Unix epoch; undefined = never. */
  readonly nextChangeAt: number | undefined;
}

export interface ReleaseReport extends OsReleaseName {
  /** Nodes wait for it, or are on their way to it. */
  readonly offered: boolean;
  /** Enough nodes run it and have been well for long enough, as of now. */
  readonly proven: boolean;
  /** It is proven, and no node waits for it or is on its way to it, as of now. */
  readonly complete: boolean;
  /** Nodes that have failed on it. */
  readonly failed: number;
}

/** A condition without its times. */
export interface ConditionReport {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}
