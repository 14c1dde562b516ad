import { durationText } from '../../lib/clock.ts';
import type { Marks } from '../../marks/marks.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../../shadow/names.ts';
import { isActive, type NodeView, type ShadowView } from '../plan/snapshot.ts';
import type { Holder } from '../plan/budgets.ts';
import type { Halted } from '../plan/releases.ts';
import type { PolicyReport } from '../plan/report.ts';
import type { Verdict } from '../plan/verdict.ts';
import type { Inspection } from './inspect.ts';

/** What concerns the whole fleet, and then a line for each managed node. */
export function fleetLines(inspection: Inspection): readonly string[] {
  const { snapshot, plan, now } = inspection;
  const { paused } = snapshot;
  const isWaiting = plan.verdicts.some(({ reason }) => reason === 'WaitingForSlot');
  return [
    ...unreadLines(inspection),
    ...(paused ? ['paused: the namespace bears the paused annotation'] : []),
    ...policyLines(inspection),
    ...plan.halted.map(haltedText),
    ...plan.warnings.map(({ message }) => `warning: ${message}`),
    ...(isWaiting ? [placesText(inspection)] : []),
    ...table(plan.verdicts.map((verdict) => cells(verdict, now))),
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
  if (verdict?.reason === 'WaitingForSlot') return table([cells(verdict, now, placesText(inspection))])[0];
  if (verdict) return table([cells(verdict, now)])[0];
  const isThere = snapshot.nodes.some((node) => node.name === name);
  return isThere ? `${name}  is not managed: it does not bear ${MANAGED_LABEL}=${MANAGED_LABEL_VALUE}` : undefined;
}

/** Settings that could not be read, because they do not stand in the Deployment itself, and policies that this user may not read. */
export function unreadLines({ unread, policiesRefused }: Inspection): readonly string[] {
  const settings = unread.map(({ source, variable }) =>
    variable === undefined
      ? `not known: what ${source} sets besides: defaults are assumed`
      : `not known: ${variable}, which ${source} sets: its default is assumed`,
  );
  if (policiesRefused === undefined) return settings;
  return [...settings, `not known: update policies, which you may not list (${policiesRefused}): none are assumed`];
}

/** How many of those who take places are named. */
const NAMED = 5;

/** Who takes the places that others wait for, and why. */
function placesText({ plan: { budget, verdicts }, now }: Inspection): string {
  const { capacity, holders } = budget;
  const verdictsByNode = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  const named = holders.slice(0, NAMED).map((holder) => {
    return `${holder.node} (${whyHeld(holder, verdictsByNode.get(holder.node), now)})`;
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

function whyHeld({ because, until }: Holder, verdict: Verdict | undefined, now: number): string {
  if (because !== 'Update')
    return until === undefined ? TAKEN_BY[because] : `${TAKEN_BY[because]}, for ${durationText(until - now)} more`;
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

function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

/** What is left on nodes where no update runs: ours, by the marks, or a cordon of which nobody can tell whose it is. */
export function leftoverLines({ snapshot }: Inspection): readonly string[] {
  const shadows = new Map(snapshot.shadows.map((shadow) => [shadow.name, shadow]));
  const slotted = new Set(snapshot.slots.map(({ nodeUid }) => nodeUid));
  const atRest = snapshot.nodes.filter(
    (node) => !slotted.has(node.uid) && !isUpdating(node, shadows.get(node.shadowName)),
  );
  return table(atRest.flatMap(leftoverOn));
}

function isUpdating({ uid }: NodeView, shadow: ShadowView | undefined): boolean {
  return shadow !== undefined && shadow.owners.includes(uid) && isActive(shadow);
}

function leftoverOn(node: NodeView): readonly (readonly string[])[] {
  const { name, marks, unreleased, managed, unschedulable } = node;
  const newer = unreleased === undefined ? [] : [[name, 'ours', `${unreleased}: a newer version knows how to undo it`]];
  if (marks) return [[name, 'ours', contentOf(marks)], ...newer];
  return managed && unschedulable
    ? [...newer, [name, 'unknown', "cordoned without marks: an administrator's, or an older apiserver's"]]
    : newer;
}

function contentOf({ owns, unknown = [], since }: Marks): string {
  const entries = [...owns, ...unknown];
  return `${entries.length > 0 ? entries.join(', ') : 'nothing but the marks'}${since === null ? '' : `, since ${since}`}`;
}
