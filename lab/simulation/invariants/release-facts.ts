import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { BEGINS_AT } from '../types.ts';
import { at, list, text } from './facts.ts';

export type ReleaseFacts = Readonly<ReturnType<typeof releaseFacts>>;

/** What the resource of a release says. @param last what it said before, where it was there */
export function releaseFacts(
  release: KubeObject,
  last:
    | { readonly haltedWhere: string; readonly decidedAt: number; readonly ledger: string; readonly toldAt: number }
    | undefined,
  now: number,
) {
  const family = text(at(release, 'spec', 'family'));
  const rolledBack = list(at(release, 'spec', 'rollbackFor')).map(String);
  const isHalted = at(release, 'spec', 'decision') === 'Halt' || rolledBack.includes('*');
  const haltedWhere = isHalted ? '*' : rolledBack.join();
  const { ledger, ...told } = toldBy(release);
  return {
    ...told,
    /** What it tells of failures and halts, as a text, and since when that stands. */
    ledger,
    toldAt: last?.ledger === ledger ? last.toldAt : now,
    version: text(at(release, 'spec', 'version')) ?? '',
    /** `*` is what people say of the version, and no ledger. */
    family,
    isOf: (other: string) => family === '*' || family === other,
    /** Nodes that have failed on it. */
    failures: Object.keys(at(release, 'status', 'failures') ?? {}).length,
    halted: (policy: string) => isHalted || rolledBack.includes(policy),
    /** Where people forbid it, as a text, and since when that stands. */
    haltedWhere,
    decidedAt: last?.haltedWhere === haltedWhere ? last.decidedAt : now,
    /** Names of the policies under which it was approved. */
    approvedFor: list(at(release, 'spec', 'approvedFor')).map(String),
    /** Since when it is offered, as the controllers have it; NaN where they say nothing. */
    offeredAt: Date.parse(text(at(release, 'status', 'firstOfferedAt')) ?? '') - BEGINS_AT,
  };
}

/** What has failed on it, by UID of the node or by check, and where that has halted it. */
function toldBy(release: KubeObject) {
  const failed = Object.entries(at(release, 'status', 'failures') ?? {}).map(([key, one]) => ({
    key,
    policy: text(at(one, 'policy')) ?? '',
    reason: text(at(one, 'reason')) ?? '',
  }));
  const policies = Object.entries(at(release, 'status', 'policies') ?? {});
  /** Names of the policies under which it was ever proven, if only to some nodes. */
  const proven = policies.flatMap(([policy, one]) =>
    at(one, 'provenAt') != null || at(one, 'provenFor') != null ? policy : [],
  );
  const isAllowed = at(release, 'spec', 'decision') === 'Allow';
  const halts = policies.flatMap(([policy, one]) =>
    at(one, 'haltedAt') == null
      ? []
      : { policy, limit: Number(at(one, 'limit')), isProven: at(one, 'provenAt') != null },
  );
  return { failed, halts, proven, isAllowed, ledger: JSON.stringify([failed, halts, isAllowed]) };
}
