import type { CheckState } from '../../../api/release/model.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { stepOf } from '../facts/steps.ts';
import { leftUntil, nodeKey, openCheck, partsOf } from '../facts/checks.ts';
import { type GateResult, PASS, stoppedBy } from '../facts/requeue.ts';
import { type Finding, found, type Stop } from '../facts/verdict.ts';
import type { Asking, World } from './asking.ts';

/** The gates of what its policy checks before a node is drained. */

/** A node whose check has failed is left as it is for a while, whatever its policy asked it for. */
export function checkedLately({ info, group, release }: Asking, { now }: World): GateResult {
  if (!group || !release) return PASS;
  for (const check of group.rules.checks.before) {
    const { [nodeKey(info.node.uid, 'before', check)]: state } = release.book.checks;
    const until = state?.says === check.says ? leftUntil(state) : -Infinity;
    if (until > now) return stoppedBy(found('CheckFailed', failedText(check.name, state?.message), until));
  }
  return PASS;
}

function openBefore({ info, group, release }: Asking, now: number): ReturnType<typeof openCheck> {
  if (!group || !release || !info.permit) return undefined;
  const { before: checks } = group.rules.checks;
  return openCheck(release.book.checks, { uid: info.node.uid, when: 'before', checks, attempt: info.permit.id, now });
}

export function onceChecked(asking: Asking): Stop['kind'] {
  return openBefore(asking, -Infinity)?.state?.result === 'Failed' ? 'call-off' : 'wait';
}

/** Asked once everything else lets the node be drained, so that the answer is about that moment. */
export function uncheckedBefore(asking: Asking, { now }: World): GateResult {
  const open = openBefore(asking, now);
  if (!open) return PASS;
  const { check, state } = open;
  if (state?.result === 'Failed') return stoppedBy(found('CheckFailed', failedText(check.name, state.message)));
  return stoppedBy(found('Checking', `the check ${check.name} is to pass before its drain`));
}

/** That a node which is back is checked, or what has failed since it came to rest there. */
export function checkedAfter(info: AssessedNode, world: World): Finding | undefined {
  const { shadow, health, phase, ruling } = info;
  if (health.checks === 'waiting') {
    const isKnown = ruling.policy && 'checks' in ruling.policy;
    const unknown = isKnown ? undefined : ruling.against;
    const checking = unknown ?? found('Checking', 'its checks after the update are to pass');
    return { ...checking, step: 'MonitoringUpdate', phase: stepOf(info) };
  }
  const { status } = shadow ?? {};
  const isAtRest = status && phase.kind === 'resting' && status.current_version === status.target_version;
  return isAtRest ? failedAfter(info, status.current_version, world) : undefined;
}

function failedAfter(info: AssessedNode, version: string, { groups, entered }: World): Finding | undefined {
  const { uid, family } = info.node;
  const release = groups.of(info)?.releases.of(family, version);
  if (!release?.book.failed.has(uid) || entered.of(release).failures[uid]?.reason !== 'CheckFailed') return undefined;
  const [key = '', state] = Object.entries(release.book.checks).find((one) => isFailedAfter(uid, one)) ?? [];
  return found('CheckFailed', failedText(partsOf(key).name, state?.message));
}

function isFailedAfter(node: string, [key, { result }]: readonly [string, CheckState]): boolean {
  const { uid, when } = partsOf(key);
  return result === 'Failed' && uid === node && when === 'after';
}

const failedText = (check: string, message: string | null | undefined): string =>
  `the check ${check} has failed: ${message ?? 'it has said nothing'}`;
