import type { Holder } from '../controller/plan/busy.ts';
import type { Halted } from '../controller/plan/releases.ts';
import type { PolicyReport } from '../controller/plan/report.ts';
import { nodeInfos } from '../controller/plan/join.ts';
import { compare } from '../controller/plan/snapshot.ts';
import type { Finding, Verdict } from '../controller/plan/verdict.ts';
import { durationText, rfc3339 } from '../lib/clock.ts';
import type { Failure } from '../release/model.ts';
import { ANY_FAMILY } from '../release/names.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../shadow/names.ts';
import { type Answer, type Command, EXIT, RefusedCommandError } from './command.ts';
import { inspect, type Inspection } from './inspect.ts';
import { noLeaderLines, noLeaderValue } from './leader.ts';
import { PLAIN, table } from './terminal.ts';
import { aheadText, firstOf, timeValue, unknownLines, verdictValue } from './output.ts';

export const why: Command = {
  name: 'why',
  takes: '[NODE...]',
  summary: 'say why each node is, or is not, being updated',
  details: `It makes the same plan as the controller, for the cluster as it is now and with the settings in the controller's Deployment. It writes
nothing, and no controller need run. Without NODE it shows all nodes and every update policy.`,
  options: {},
  least: 0,
  most: Infinity,
  async run({ names, clock, connect }) {
    const seen = await inspect(await connect(), clock.now());
    return names.length === 0 ? ofFleet(seen) : ofNodes(seen, names);
  },
};

function ofFleet(seen: Inspection): Answer {
  const { plan, snapshot, unknown, noLeader, now } = seen;
  return {
    value: {
      at: rfc3339(now),
      noLeader: noLeaderValue(noLeader),
      paused: snapshot.paused,
      notKnown: unknown,
      policies: plan.policies.map(policyValue),
      halted: plan.halted,
      warnings: plan.warnings,
      nodes: plan.verdicts.map(verdictValue),
    },
    lines: () => fleetLines(seen),
  };
}

const policyValue = ({ nextChangeAt, ...report }: PolicyReport) => ({
  ...report,
  nextChangeAt: timeValue(nextChangeAt),
});

function ofNodes(seen: Inspection, names: readonly string[]): Answer {
  const keepersOf = seen.keepers();
  const kept = (name: string) => keptIn(seen, name, keepersOf(name));
  const lines = names.flatMap((name) => [
    nodeLine(seen, name) ?? `${name}  is no node of the cluster`,
    ...keptLines(kept(name)),
  ]);
  const missing = names.filter((name) => nodeLine(seen, name) === undefined);
  if (missing.length === names.length) throw new RefusedCommandError(`the cluster has no node ${missing.join(', ')}`);
  const asked = new Set(names);
  const verdicts = seen.plan.verdicts.filter(({ node }) => asked.has(node));
  const policies = [...new Set(names.flatMap((name) => policyLines(seen, name)))];
  return {
    value: {
      at: rfc3339(seen.now),
      noLeader: noLeaderValue(seen.noLeader),
      notKnown: seen.unknown,
      nodes: verdicts.map((verdict) => Object.assign(verdictValue(verdict), kept(verdict.node))),
    },
    lines: () => [...noLeaderLines(seen.noLeader), ...unknownLines(seen.unknown, PLAIN), ...policies, ...lines],
    exitCode: missing.length > 0 ? EXIT.failed : EXIT.ok,
  };
}

/** Why nothing starts on the release that a node is offered. */
interface Halt {
  readonly version: string;
  /** Names of the objects by which people have halted it. */
  readonly decidedBy: readonly string[];
  /** Nodes that have failed on it, by name. */
  readonly failures: readonly Pick<Failure, 'node' | 'reason' | 'at'>[];
}

const keptIn = (seen: Inspection, name: string, keptBy: readonly Finding[]) => ({
  keptBy,
  halt: keptBy.some(({ reason }) => reason === 'RolloutHalted') ? haltOf(seen, name) : undefined,
});

function haltOf({ snapshot }: Inspection, name: string): Halt | undefined {
  const info = nodeInfos(snapshot).find(({ node }) => node.name === name);
  const version = info?.shadow?.status?.target_version;
  if (!info || version === undefined) return undefined;
  const families = new Set([info.node.family, ANY_FAMILY]);
  const about = snapshot.releases.objects.filter((one) => one.version === version && families.has(one.family));
  const failures = about.flatMap(({ ledger }) => Object.values(ledger.failures));
  return {
    version,
    decidedBy: about.filter(({ decision }) => decision === 'Halt').map((one) => one.name),
    failures: failures
      .map(({ node, reason, at }) => ({ node, reason, at }))
      .toSorted((a, b) => compare(a.node, b.node)),
  };
}

const keptLines = ({ keptBy, halt }: ReturnType<typeof keptIn>): readonly string[] => [
  ...keptBy.slice(1).map(({ reason, message }) => `  then ${reason}: ${message}`),
  ...haltLines(halt),
];

function haltLines(halt: Halt | undefined): readonly string[] {
  if (!halt) return [];
  const { version, decidedBy, failures } = halt;
  const failed = failures.map(({ node, reason }) => `${node} (${reason})`);
  return [
    ...(decidedBy.length > 0 ? [`  people have halted ${version}: ${decidedBy.join(', ')}`] : []),
    ...(failed.length > 0 ? [`  ${version} failed on ${firstOf(failed, MAX_NAMED)}`] : []),
  ];
}

/** Lines on the whole fleet, and then one for each managed node. */
export function fleetLines(inspection: Inspection): readonly string[] {
  const { snapshot, plan, now } = inspection;
  const { paused } = snapshot;
  const isWaiting = plan.verdicts.some(({ reason }) => reason === 'WaitingForSlot');
  return [
    ...noLeaderLines(inspection.noLeader),
    ...unknownLines(inspection.unknown, PLAIN),
    ...(paused ? ['paused: the namespace bears the paused annotation'] : []),
    ...policyLines(inspection),
    ...plan.halted.map(haltedText),
    ...plan.warnings.map(({ message }) => `warning: ${message}`),
    ...(isWaiting ? [placesText(inspection)] : []),
    ...table(
      plan.verdicts.map((verdict) => cells(verdict, now)),
      PLAIN,
    ),
  ];
}

const haltedText = ({ version, family, failures, policy }: Halted): string =>
  `halted: ${version} (${family}) failed on ${failures} nodes${policy === undefined ? '' : ` of policy ${policy}`}`;

/** A line for each policy; with `node`, only for the policy that rules it. */
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
  if (verdict?.reason === 'WaitingForSlot') return table([cells(verdict, now, placesText(inspection))], PLAIN)[0];
  if (verdict) return table([cells(verdict, now)], PLAIN)[0];
  const isThere = snapshot.nodes.some((node) => node.name === name);
  return isThere ? `${name}  is not managed: it does not bear ${MANAGED_LABEL}=${MANAGED_LABEL_VALUE}` : undefined;
}

/** How many nodes are named of those that take places. */
const MAX_NAMED = 5;

/** Which nodes take the places that others wait for, and why. */
function placesText({ plan: { budget, verdicts }, now }: Inspection): string {
  const { capacity, holders } = budget;
  const verdictsByNode = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  const named = holders.map((holder) => {
    const { node, until } = holder;
    const more = until === undefined ? '' : `, for ${durationText(until - now)} more`;
    return `${node} (${whyHeld(holder, verdictsByNode.get(node))}${more})`;
  });
  const of = Number.isFinite(capacity) ? ` of ${capacity}` : '';
  return `places: ${holders.length}${of} taken, by ${firstOf(named, MAX_NAMED)}`;
}

/** Why a node without an update takes a place. */
const TAKEN_BY: Readonly<Record<Exclude<Holder['because'], 'Update'>, string>> = {
  NodeNotReady: 'not Ready',
  Cordoned: 'cordoned by somebody else, or about to be removed',
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
  { node, policy, reason, message, step, since, until, position, ahead }: Verdict,
  now: number,
  more?: string,
): readonly string[] {
  const details = [
    policy === undefined ? undefined : `policy ${policy}`,
    step,
    position === undefined ? undefined : `position ${position}`,
    ahead && aheadText(ahead),
    since === undefined || since === 0 ? undefined : `for ${durationText(now - since)}`,
    until === undefined ? undefined : `in ${durationText(until - now)}`,
    more,
  ].filter((detail) => detail !== undefined);
  return [node, reason, details.length > 0 ? `${message} (${details.join(', ')})` : message];
}
