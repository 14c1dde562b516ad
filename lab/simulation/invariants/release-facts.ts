import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { at, text } from './facts.ts';

/** What the resource of a release says. */
export interface ReleaseFacts {
  readonly version: string;
  readonly isOf: (family: string) => boolean;
  /** Nodes that have failed on it. */
  readonly failures: number;
  /** Whether people forbid it, and since when that stands. */
  readonly halted: boolean;
  readonly decidedAt: number;
}

export function releaseFacts(release: KubeObject, last: ReleaseFacts | undefined, now: number): ReleaseFacts {
  const family = text(at(release, 'spec', 'family'));
  const halted = at(release, 'spec', 'decision') === 'Halt';
  return {
    version: text(at(release, 'spec', 'version')) ?? '',
    isOf: (other) => family === '*' || family === other,
    failures: Object.keys(at(release, 'status', 'failures') ?? {}).length,
    halted,
    decidedAt: last?.halted === halted ? last.decidedAt : now,
  };
}
