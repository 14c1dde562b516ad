import { instantOf } from '../../../lib/clock.ts';
import { enter, isStatedBadEnd, type Ledger, under } from '../../../api/release/ledger.ts';
import { failedOn } from '../nodes/blame.ts';
import { attemptWithoutPermit, failureOf } from '../nodes/ends.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { saysOf } from './proving.ts';
import type { OsReleaseName } from '../facts/ledgers.ts';
import type { Rulings } from '../facts/rulings.ts';

/** What a term adds to a ledger that another has kept. */
interface Seed extends OsReleaseName {
  readonly add: (ledger: Ledger) => Ledger;
}

interface Known {
  readonly rulings: Pick<Rulings, 'all'>;
  readonly unsettled: readonly AssessedNode[];
  readonly now: number;
}

/** What is on record in shadows of failures, which the ends that this plan sees are added to, and policies of releases. What people have cleared since stays cleared. */
export function seedsOf({ rulings, unsettled, now }: Known): readonly Seed[] {
  const managed = unsettled.filter(({ node }) => node.managed);
  return [...managed.flatMap((info) => failuresOn(info, now)), ...rulings.all.flatMap(saidOf)];
}

function saidOf({ view, ruling: { rules } }: Rulings['all'][number]): readonly Seed[] {
  const { uid, status } = view.resource ?? {};
  const name = rules.name ?? '';
  return (status?.releases ?? []).map(({ family, version, firstOfferedAt, provenAt, completedAt }) => {
    const proven = provenAt != null && { uid, provenAt, met: saysOf(rules) };
    const add = (ledger: Ledger): Ledger => {
      const known = ledger.policies[name];
      const more = { ...(known?.provenAt == null && proven), completedAt: known?.completedAt ?? completedAt ?? null };
      return { ...under(ledger, name, more), firstOfferedAt: ledger.firstOfferedAt ?? firstOfferedAt ?? null };
    };
    return { family, version, add };
  });
}

function failuresOn(info: AssessedNode, now: number): readonly Seed[] {
  const { node, shadow } = info;
  if (!shadow?.status) return [];
  const { last_failure: last, state_transition_failure_timestamp: failedAt } = shadow.status;
  const at = Math.min(instantOf(failedAt) ?? now, now);
  return failedOn(shadow).map((version) => {
    const attempt = attemptWithoutPermit(node.uid, version, shadow);
    const reason = last?.version === version && isStatedBadEnd(last.reason) ? last.reason : 'BootFailed';
    const failure = failureOf(info, { version, attempt, reason }, at);
    const isCleared = (ledger: Ledger): boolean =>
      (instantOf(ledger.cleared[node.uid]?.at) ?? -Infinity) >= Date.parse(failure.at);
    const add = (ledger: Ledger): Ledger =>
      node.uid in ledger.failures || isCleared(ledger) ? ledger : enter(ledger, node.uid, failure);
    return { family: node.family, version, add };
  });
}
