import { MAX_UNREADY } from '../../api/shadow/evidence.ts';
import type { Status } from '../../api/shadow/model.ts';
import type { Drain } from '../../drain/drain.ts';
import { isFinished } from '../../drain/pod.ts';

export interface EvidencePatch {
  readonly unready_before?: readonly string[] | null;
  readonly workloads?: null;
}

/** What a drain that begins says of the pods on its node, for when these are compared after the update: what ailed before is no fault of a release. */
export function endOfEvidence({ seen }: Pick<Drain, 'seen'>, status: Status | null | undefined): EvidencePatch {
  const ailing = seen.items.filter((pod) => !pod.isReady && !isFinished(pod) && pod.due === undefined);
  const unready = [...new Set(ailing.flatMap(({ controller }) => controller?.uid ?? []))]
    .toSorted()
    .slice(0, MAX_UNREADY);
  return {
    ...(status?.workloads != null && { workloads: null }),
    ...((unready.length > 0 || status?.unready_before != null) && {
      unready_before: unready.length > 0 ? unready : null,
    }),
  };
}
