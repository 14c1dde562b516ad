import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import type { Status } from '../../../api/shadow/model.ts';
import { instantOf, MINUTE_MS } from '../../../lib/clock.ts';
import { isLetThrough } from '../facts/phase.ts';
import type { NodeInfo, Settings } from '../facts/snapshot.ts';
import { listed } from '../facts/verdict.ts';

/** How the workloads do that the drain of a node has displaced: they are waited for, or are not back in time; undefined where they are. */
export type Settling = 'waiting' | 'late' | 'failed' | undefined;

export type Settled = Pick<NodeInfo, 'node' | 'shadow' | 'phase'>;
type Times = Pick<UpdatePolicy, 'settleMs'> & Pick<Settings, 'soakTimeoutMs'>;
type Rules = Times & Pick<UpdatePolicy, 'settleFails'> & { readonly displacedElsewhere: () => ReadonlySet<string> };

/** An agent has them looked at within seconds of its report that it is back. For so long one may try that has been told to ask again; an older one never does. */
const UNSEEN_MS = MINUTE_MS / 2;

/** A look is repeated each half minute. One that is older by the end fails nobody: an agent or an apiserver may be away. */
const BELIEVED_MS = MINUTE_MS;

/**
 * Until when the node, which is back, is waited with; -Infinity where nothing is away. It counts from when it was told to monitor, whoever leads, or was
 * Ready, but no later than one must be that does not fail its soak: a node that comes and goes would keep its permit.
 */
export function settlesUntil({ node, shadow, phase }: Settled, { settleMs, soakTimeoutMs }: Times): number {
  const { displaced } = shadow?.status ?? {};
  if (!shadow || !displaced || settleMs === 0 || phase.kind !== 'monitoring') return -Infinity;
  const toldAt = shadow.stepBeganAt;
  const since = node.ready ? Math.min(Math.max(toldAt, node.readyChangedAt), toldAt + soakTimeoutMs) : toldAt;
  return since + (displaced.looked_at == null ? Math.min(settleMs, UNSEEN_MS) : settleMs);
}

export function settlingOf(info: Settled, rules: Rules, now: number): Settling {
  const until = settlesUntil(info, rules);
  if (now < until) return 'waiting';
  const { status } = info.shadow ?? {};
  if (rules.settleMs === 0 || missingText(status) === undefined) return undefined;
  return rules.settleFails && isOwn(status, until, rules) ? 'failed' : 'late';
}

/** Something is known to be missing that no other node may have taken away. */
function isOwn(status: Pick<Status, 'displaced'> | undefined, until: number, { displacedElsewhere }: Rules): boolean {
  const { looked_at, owners = [] } = status?.displaced ?? {};
  if (until - (instantOf(looked_at) ?? -Infinity) > BELIEVED_MS) return false;
  const elsewhere = displacedElsewhere();
  return owners.some(({ uid }) => !elsewhere.has(uid));
}

/**
 * UIDs of the owners of pods that the drains of other nodes have evicted, and that may be away for that. Of nodes that are back, the one that is waited
 * with for longest is asked, or they would excuse each other.
 */
export function ownersDisplaced(
  info: Settled,
  all: readonly Settled[],
  untilOf: (one: Settled) => number,
): ReadonlySet<string> {
  const { uid } = info.node;
  const until = untilOf(info);
  const isLonger = (one: Settled): boolean => untilOf(one) > until || (untilOf(one) === until && one.node.uid > uid);
  const others = all.filter((one) => one.node.uid !== uid && keepsPods(one) && (!isServing(one) || isLonger(one)));
  return new Set(others.flatMap(({ shadow }) => shadow?.status?.displaced?.owners.map((owner) => owner.uid) ?? []));
}

/** It takes pods again, and what its drain has displaced has been waited for, or is. */
function isServing({ node, shadow, phase }: Settled): boolean {
  if (node.marks || node.unschedulable || !node.ready) return false;
  if (phase.kind === 'returning') return shadow?.status?.current_state === 'MonitoringUpdate';
  return phase.kind === 'monitoring' && phase.at !== 'reported';
}

/** The node is out, or its drain has just failed or was called off: the pods that were evicted from it are not back yet. */
export const keepsPods = ({ node, phase }: Pick<NodeInfo, 'node' | 'phase'>): boolean =>
  node.marks !== undefined || phase.kind === 'returning' || isLetThrough(phase);

/** What is not back as it was before the drain; undefined where nothing is known to be. */
export function missingText(status: Pick<Status, 'displaced'> | undefined): string | undefined {
  const { looked_at, missing = [] } = status?.displaced ?? {};
  return looked_at == null || missing.length === 0 ? undefined : listed(missing);
}
