import type { Holder } from '../controller/plan/budgets.ts';
import type { Halted } from '../controller/plan/releases.ts';
import type { PolicyReport } from '../controller/plan/report.ts';
import type { Verdict } from '../controller/plan/verdict.ts';
import { durationText } from '../lib/clock.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../shadow/names.ts';
import type { Inspection } from './inspect.ts';
import { table } from './look.ts';

/** Sentences are not cut: the terminal breaks them. */
const WIDE = { columns: Infinity };

/** What concerns the whole fleet, and then a line for each managed node. */
export function fleetLines(inspection: Inspection): readonly string[] {
  const { snapshot, plan, now } = inspection;
  const { paused } = snapshot;
  const isWaiting = plan.verdicts.some(({ reason }) => reason === 'WaitingForSlot');
  return [
    ...unknownLines(inspection),
    ...(paused ? ['paused: the namespace bears the paused annotation'] : []),
    ...policyLines(inspection),
    ...plan.halted.map(haltedText),
    ...plan.warnings.map(({ message }) => `warning: ${message}`),
    ...(isWaiting ? [placesText(inspection)] : []),
    ...table(
      plan.verdicts.map((verdict) => cells(verdict, now)),
      WIDE,
    ),
  ];
}

const haltedText = ({ version, family, failures, policy }: Halted): string =>
  `halted: ${version} (${family}) failed on ${failures} nodes${policy === undefined ? '' : ` of policy ${policy}`}`;

/** How each policy does; with `node`, only the one that rules it. */
export function policyLines({ plan, now }: Inspection, node?: string): readonly string[] {
  const ruling = plan.verdicts.find((verdict) => verdict.node === node)?.policy;
  const shown = node === undefined ? plan.policies : plan.policies.filter(({ name }) => name === ruling);
  return shown.map((report) => policyText(report, now));
}

function policyText({ name, nodes, accepted, progressing, halted, nextChangeAt }: PolicyReport, now: number): string {
  const { selected, upToDate, updating, waiting, failed } = nodes;
  const said = [
    `${selected} nodes, ${upToDate} up to date, ${updating} updating, ${waiting} waiting, ${failed} failed`,
    ...(halted.status === 'True' ? [halted.message] : []),
    accepted.status === 'True' ? progressing.message : `not accepted: ${accepted.message}`,
  ];
  const until = nextChangeAt === undefined ? '' : ` (next change in ${durationText(nextChangeAt - now)})`;
  return `policy ${name}: ${said.join('; ')}${until}`;
}

/** The line of one node; undefined where the cluster has no such node. */
export function nodeLine(inspection: Inspection, name: string): string | undefined {
  const { snapshot, plan, now } = inspection;
  const verdict = plan.verdicts.find(({ node }) => node === name);
  if (verdict?.reason === 'WaitingForSlot') return table([cells(verdict, now, placesText(inspection))], WIDE)[0];
  if (verdict) return table([cells(verdict, now)], WIDE)[0];
  const isThere = snapshot.nodes.some((node) => node.name === name);
  return isThere ? `${name}  is not managed: it does not bear ${MANAGED_LABEL}=${MANAGED_LABEL_VALUE}` : undefined;
}

/** What is assumed instead of known. */
export function unknownLines({ unknown }: Pick<Inspection, 'unknown'>): readonly string[] {
  return unknown.map((sentence) => `not known: ${sentence}`);
}

/** How many of those who take places are named. */
const NAMED = 5;

/** Who takes the places that others wait for, and why. */
function placesText({ plan: { budget, verdicts }, now }: Inspection): string {
  const { capacity, holders } = budget;
  const verdictsByNode = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  const named = holders.slice(0, NAMED).map((holder) => {
    const { node, until } = holder;
    const more = until === undefined ? '' : `, for ${durationText(until - now)} more`;
    return `${node} (${whyHeld(holder, verdictsByNode.get(node))}${more})`;
  });
  const more = holders.length > NAMED ? ` and ${holders.length - NAMED} more` : '';
  const of = Number.isFinite(capacity) ? ` of ${capacity}` : '';
  return `places: ${holders.length}${of} taken, by ${named.join(', ')}${more}`;
}

/** Why a place is taken where no update takes it. */
const TAKEN_BY: Readonly<Record<Exclude<Holder['because'], 'Update'>, string>> = {
  NodeNotReady: 'not Ready',
  AgentSilent: 'without its agent',
  Marks: 'what was changed on it is being undone',
  NodeGone: 'the node is gone',
};

/** @param verdict on the node that has the place */
export function whyHeld({ because }: Holder, verdict: Verdict | undefined): string {
  if (because !== 'Update') return TAKEN_BY[because];
  return verdict?.reason === 'Updating'
    ? (verdict.step ?? verdict.reason)
    : (verdict?.reason ?? 'not managed any more');
}

function cells(
  { node, policy, reason, message, step, since, until, position }: Verdict,
  now: number,
  more?: string,
): readonly string[] {
  const details = [
    policy === undefined ? undefined : `policy ${policy}`,
    step,
    position === undefined ? undefined : `position ${position}`,
    since === undefined || since === 0 ? undefined : `for ${durationText(now - since)}`,
    until === undefined ? undefined : `in ${durationText(until - now)}`,
    more,
  ].filter((detail) => detail !== undefined);
  return [node, reason, details.length > 0 ? `${message} (${details.join(', ')})` : message];
}
