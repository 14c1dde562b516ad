import type { PhaseKind } from '../facts/phase.ts';
import type { Ruling } from '../facts/rulings.ts';
import type { NodeInfo } from '../facts/snapshot.ts';
import { type Finding, found } from '../facts/verdict.ts';

/** What the apiserver has seen of a node's pods. */

const DISTURBED: ReadonlySet<PhaseKind> = new Set<PhaseKind>(['draining', 'rebooting']);
const BACK: ReadonlySet<PhaseKind> = new Set<PhaseKind>(['monitoring', 'resting']);

interface Ruled extends Pick<NodeInfo, 'shadow' | 'phase'> {
  readonly ruling: Ruling;
}

/** The finding, with what its drain warned of when it began, or what its pods have shown since its update. */
export function withEvidence(info: Pick<NodeInfo, 'shadow' | 'phase'>, finding: Finding): Finding {
  const { shadow, phase } = info;
  const worse = worseOn(info);
  if (worse !== undefined) return { ...finding, message: `${finding.message}; WorkloadsWorse: ${worse}` };
  const lack = DISTURBED.has(phase.kind) ? shadow?.status?.no_room : undefined;
  return lack == null ? finding : { ...finding, message: `${finding.message}; NoRoom: ${lack}` };
}

/** Its policy takes it for a failure on the release. */
export function worseAfter(info: Ruled): Finding | undefined {
  const worse = isFailedByPods(info) ? worseOn(info) : undefined;
  return worse === undefined ? undefined : found('WorkloadsWorse', worse);
}

export const isFailedByPods = (info: Ruled): boolean =>
  info.ruling.rules.proof.failsWorse === true && worseOn(info) !== undefined;

/** Whose pods are clearly worse on what it runs than elsewhere. */
export function worseOn({ shadow, phase }: Pick<NodeInfo, 'shadow' | 'phase'>): string | undefined {
  const { workloads, current_version: version } = shadow?.status ?? {};
  return BACK.has(phase.kind) && workloads?.version === version ? workloads?.worse : undefined;
}
