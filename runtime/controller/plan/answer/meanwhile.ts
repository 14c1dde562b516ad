import { instantOf } from '../../../lib/clock.ts';
import { isArriving } from '../facts/arriving.ts';
import { stepOf } from '../facts/steps.ts';
import { type Finding, found, listed, type Verdict } from '../facts/verdict.ts';
import type { World } from '../gates/asking.ts';
import { aheadOf } from '../gates/hints.ts';
import type { AssessedNode } from '../nodes/health.ts';
import { missingText, settlesUntil } from '../nodes/settle.ts';

/** The verdict with what becomes of the node while it waits, or what its last update has left undone. */
export function withMeanwhile(
  verdict: Verdict,
  info: AssessedNode,
  { settings, now }: Pick<World, 'settings' | 'now'>,
): Verdict {
  const ahead = aheadOf(info);
  const notBack = leftOf(info);
  const more = notBack === undefined ? verdict : { ...verdict, notBack };
  const said = ahead ? { ...more, ahead } : more;
  const known = info.node.bearsWaiting === true ? { ...said, isAvoided: true } : said;
  return isArriving(info.node, settings, now) ? { ...known, isArriving: true } : known;
}

/** What its last update has left undone, where it had to wait for that. */
const leftOf = ({ phase, shadow, ruling }: AssessedNode): string | undefined =>
  phase.kind === 'resting' && ruling.rules.settleMs > 0 ? missingText(shadow?.status) : undefined;

/** What its update waits for: pods to finish before its drain, or what the drain has moved, once its node is back and well. */
export function awaited(info: AssessedNode, { settings }: Pick<World, 'settings'>): Finding | undefined {
  const { phase, health } = info;
  if (phase.kind === 'finishing') return finishing(info);
  return health.settling === 'waiting' ? unsettled(info, settings) : undefined;
}

function finishing(info: AssessedNode): Finding {
  const { node, shadow } = info;
  const { waits_for, waits_until } = shadow?.status?.drain ?? {};
  const until = instantOf(waits_until ?? node.marks?.waitsUntil);
  const message = `its drain lets these pods finish first: ${listed(waits_for ?? [])}`;
  return { ...found('WorkFinishing', message, until), step: 'RebootedIntoUpdate', phase: stepOf(info) };
}

function unsettled(info: AssessedNode, { soakTimeoutMs }: World['settings']): Finding {
  const { shadow, ruling } = info;
  const missing = missingText(shadow?.status) ?? 'it has not been looked at yet';
  const until = settlesUntil(info, { ...ruling.rules, soakTimeoutMs });
  const finding = found('WorkloadsNotBack', `what its drain has moved does not run again as before: ${missing}`, until);
  return { ...finding, step: 'MonitoringUpdate', phase: stepOf(info) };
}
