import type { Kept } from '../../controller/telling/plan-report.ts';
import type { Holder } from '../../controller/plan/groups/busy.ts';
import type { Plan } from '../../controller/plan/plan.ts';
import type { PolicyReport } from '../../controller/plan/answer/report.ts';
import type { Snapshot } from '../../controller/plan/facts/snapshot.ts';
import { isDone } from '../../controller/plan/facts/reasons.ts';
import { runbookOf } from '../../controller/plan/facts/runbook.ts';
import { STEP_WORDS } from '../../controller/plan/facts/steps.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import { nodesOf } from '../../kube/resources.ts';
import { type Clock, durationText, rfc3339 } from '../../lib/clock.ts';
import { pauseText } from '../../api/shadow/asked.ts';
import { MANAGED_LABEL, MANAGED_LABEL_VALUE } from '../../api/shadow/names.ts';
import { type Answer, type Cluster, type Command, EXIT, RefusedCommandError } from '../command.ts';
import { AS_IS, type Here, hereOf } from '../arguments.ts';
import { haltedLines } from '../halted.ts';
import type { Inspection } from '../inspect.ts';
import { noLeaderLines, noLeaderValue } from '../leader.ts';
import { askPlan } from '../leader-plan.ts';
import { PLAIN, table } from '../output/terminal.ts';
import { firstOf, meanwhileText, timeValue, unknownLines, untilText, verdictValue } from '../output/output.ts';

/** A plan as people are told it, the leader's or one made here. */
interface Shown extends Pick<Inspection, 'noLeader' | 'unknown' | 'now'> {
  readonly plan: Pick<Plan, 'policies' | 'halted' | 'warnings' | 'verdicts' | 'budget'>;
  readonly snapshot: Pick<Snapshot, 'paused' | 'pausedBy'> & { readonly nodes: readonly { readonly name: string }[] };
}

/** What `why` answers from. */
export interface Said extends Shown, Kept {
  /** What is out for the nodes that were named, and not offered to them yet: a line, by name. */
  readonly out?: ReadonlyMap<string, string>;
  readonly source: 'leader' | 'here';
  /** What the leader wrote last of each node, where it does not answer itself. */
  readonly written: ReadonlyMap<string, string>;
}

export const why: Command = {
  name: 'why',
  args: '[NODE...]',
  summary: 'say why each node is, or is not, being updated',
  details: `It says what the controller that leads says. Where that does not answer within two seconds, it makes the same plan here, with the settings in
the controller's Deployment, and says so. It writes nothing. Without NODE it shows all nodes and every update policy.`,
  options: {},
  minArgs: 0,
  maxArgs: Infinity,
  async run({ names, clock, connect, values }) {
    const cluster = await connect();
    const said = await saidOf(cluster, names, clock);
    if (names.length === 0) return ofFleet(said, hereOf(values));
    return ofNodes({ ...said, out: await outFor(cluster, said, names) }, names, hereOf(values));
  },
};

async function saidOf(cluster: Cluster, names: readonly string[], clock: Clock): Promise<Said> {
  const answer = await askPlan(cluster);
  if ('missing' in answer) {
    const { plannedHere } = await import('../planned-here.ts');
    return plannedHere(cluster, clock.now(), answer.missing);
  }
  const { said: report } = answer;
  const judged = new Set(report.verdicts.map(({ node }) => node));
  const others = await Promise.all(
    names.filter((name) => !judged.has(name)).map((name) => nodesOf(cluster.transport).get(name)),
  );
  const nodes = others.flatMap((node) => (node ? [{ name: node.metadata.name }] : []));
  return {
    ...report,
    source: 'leader',
    plan: { ...report, budget: report.places },
    snapshot: { paused: report.paused, pausedBy: report.pausedBy, nodes },
    noLeader: undefined,
    unknown: [],
    written: new Map(),
    now: report.at,
  };
}

function ofFleet(said: Said, here: Here): Answer {
  const { plan, snapshot, unknown, noLeader, source, now } = said;
  return {
    value: {
      at: rfc3339(now),
      source,
      noLeader: noLeaderValue(noLeader),
      paused: snapshot.paused,
      pausedBy: snapshot.pausedBy,
      notKnown: unknown,
      policies: plan.policies.map(policyValue),
      halted: plan.halted,
      warnings: plan.warnings,
      nodes: plan.verdicts.map(verdictValue),
    },
    lines: () => fleetLines(said, here),
  };
}

const policyValue = ({ nextChangeAt, ...report }: PolicyReport) => ({
  ...report,
  nextChangeAt: timeValue(nextChangeAt),
});

function ofNodes(said: Said, names: readonly string[], here: Here): Answer {
  const lines = names.flatMap((name) => [
    nodeLine(said, name) ?? `${name}  is no node of the cluster`,
    ...outLines(said, name),
    ...keptLines(keptFrom(said, name)),
    ...writtenLines(said, name),
    ...runbookLines(said, name),
  ]);
  const missing = names.filter((name) => nodeLine(said, name) === undefined);
  if (missing.length === names.length) throw new RefusedCommandError(`the cluster has no node ${missing.join(', ')}`);
  const asked = new Set(names);
  const verdicts = said.plan.verdicts.filter(({ node }) => asked.has(node));
  const policies = [...new Set(names.flatMap((name) => policyLines(said, name)))];
  return {
    value: {
      at: rfc3339(said.now),
      source: said.source,
      noLeader: noLeaderValue(said.noLeader),
      notKnown: said.unknown,
      nodes: verdicts.map((verdict) =>
        Object.assign(verdictValue(verdict), keptFrom(said, verdict.node), {
          out: said.out?.get(verdict.node),
          runbook: runbookOf(verdict.reason),
        }),
      ),
    },
    lines: () => [
      ...noLeaderLines(said.noLeader, here),
      ...haltedLines([...new Set(names.flatMap((name) => keptFrom(said, name).halt ?? []))], here),
      ...unknownLines(said.unknown, PLAIN),
      ...policies,
      ...lines,
    ],
    exitCode: missing.length > 0 ? EXIT.failed : EXIT.ok,
  };
}

/** All that keeps the node, and the halted release that does. */
function keptFrom({ waiting, plan }: Said, node: string) {
  const { family, version, findings: keptBy = [] } = waiting[node] ?? {};
  const verdict = plan.verdicts.find((one) => one.node === node);
  const halt = keptBy.some(({ reason }) => reason === 'RolloutHalted')
    ? plan.halted.find((one) => one.family === family && one.version === version && one.policy === verdict?.policy)
    : undefined;
  return { keptBy, ...(halt && { halt }) };
}

const writtenLines = ({ written }: Said, node: string): readonly string[] => {
  const last = written.get(node);
  return last === undefined ? [] : [`  by its condition ${last}`];
};

const runbookLines = ({ plan }: Said, name: string): readonly string[] => {
  const address = plan.verdicts.flatMap(({ node, reason }) => (node === name ? (runbookOf(reason) ?? []) : []));
  return address.map((one) => `  what to do: ${one}`);
};

/** Beside these it stands what else is out. */
async function outFor(
  cluster: Cluster,
  { plan, now }: Said,
  names: readonly string[],
): Promise<NonNullable<Said['out']>> {
  const asked = new Set(names);
  const resting = plan.verdicts.filter(({ node, reason }) => asked.has(node) && isDone(reason));
  if (resting.length === 0) return new Map();
  const nodes = resting.map(({ node }) => node);
  const { readWavesOf, turnLine } = await import('../waves/waves.ts');
  const waves = await readWavesOf(cluster, nodes);
  const lines = nodes.map((node) => [node, turnLine(waves, node, now)] as const);
  return new Map(lines.flatMap(([node, line]) => (line === undefined ? [] : [[node, line]])));
}

const outLines = ({ out }: Said, node: string): readonly string[] => {
  const line = out?.get(node);
  return line === undefined ? [] : [`  ${line}`];
};

const keptLines = ({ keptBy }: ReturnType<typeof keptFrom>): readonly string[] =>
  keptBy.slice(1).map(({ reason, message }) => `  then ${reason}: ${message}`);

/** Lines on the whole fleet, and then one for each managed node. */
export function fleetLines(inspection: Shown, here: Here = AS_IS): readonly string[] {
  const { snapshot, plan, now } = inspection;
  const { paused, pausedBy } = snapshot;
  const isWaiting = plan.verdicts.some(({ reason }) => reason === 'WaitingForSlot');
  return [
    ...noLeaderLines(inspection.noLeader, here),
    ...haltedLines(plan.halted, here),
    ...unknownLines(inspection.unknown, PLAIN),
    ...(paused ? [`paused: ${pauseText(pausedBy)}`] : []),
    ...policyLines(inspection),
    ...plan.warnings.map(({ message }) => `warning: ${message}`),
    ...(isWaiting ? [placesText(inspection)] : []),
    ...table(
      plan.verdicts.map((verdict) => cells(verdict, now)),
      PLAIN,
    ),
  ];
}

/** A line for each policy; with `node`, only for the policy that rules it. */
export function policyLines({ plan, now }: Shown, node?: string): readonly string[] {
  const ruling = plan.verdicts.find((verdict) => verdict.node === node)?.policy;
  const shown = node === undefined ? plan.policies : plan.policies.filter(({ name }) => name === ruling);
  return shown.map((report) => policyText(report, now));
}

function policyText(report: PolicyReport, now: number): string {
  const { name, nodes, accepted, progressing, halted, deadline, nextChangeAt } = report;
  const { selected, upToDate, updating, waiting, failed } = nodes;
  const said = [
    `${selected} nodes, ${upToDate} up to date, ${updating} updating, ${waiting} waiting, ${failed} failed`,
    ...[halted, deadline].flatMap((one) => (one?.status === 'True' ? one.message : [])),
    accepted.status === 'True' ? progressing.message : `not accepted: ${accepted.message}`,
  ];
  const until = nextChangeAt === undefined ? '' : ` (next change in ${durationText(nextChangeAt - now)})`;
  return `policy ${name}: ${said.join('; ')}${until}`;
}

/** The line of one node; undefined where the cluster has no such node. */
export function nodeLine(inspection: Shown, name: string): string | undefined {
  const { snapshot, plan, now } = inspection;
  const verdict = plan.verdicts.find(({ node }) => node === name);
  if (verdict?.reason === 'WaitingForSlot') return table([cells(verdict, now, placesText(inspection))], PLAIN)[0];
  if (verdict) return table([cells(verdict, now)], PLAIN)[0];
  const isThere = snapshot.nodes.some((node) => node.name === name);
  return isThere ? `${name}  is not managed: it does not bear ${MANAGED_LABEL}=${MANAGED_LABEL_VALUE}` : undefined;
}

/** How many nodes are named of those that take permits. */
const MAX_NAMED = 5;

/** Which nodes take the permits that others wait for, and why. */
function placesText({ plan: { budget, verdicts }, now }: Shown): string {
  const { capacity, holders } = budget;
  const verdictsByNode = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  const named = holders.map((holder) => {
    const { node, until } = holder;
    const more = until === undefined ? '' : `, for ${durationText(until - now)} more`;
    return `${node} (${whyHeld(holder, verdictsByNode.get(node))}${more})`;
  });
  const of = Number.isFinite(capacity) ? ` of ${capacity}` : '';
  return `permits: ${holders.length}${of} taken, by ${firstOf(named, MAX_NAMED)}`;
}

/** Why a node without an update takes a permit from the others. */
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
  if (verdict?.reason !== 'Updating') return verdict?.reason ?? 'not managed any more';
  return verdict.phase ? STEP_WORDS[verdict.phase] : verdict.reason;
}

function cells(
  { node, policy, reason, message, phase, since, until, position, ...meanwhile }: Verdict,
  now: number,
  more?: string,
): readonly string[] {
  const details = [
    policy === undefined ? undefined : `policy ${policy}`,
    phase && STEP_WORDS[phase],
    position === undefined ? undefined : `position ${position}`,
    meanwhileText(meanwhile),
    since === undefined || since === 0 ? undefined : `for ${durationText(now - since)}`,
    until === undefined ? undefined : untilText(reason, until - now),
    more,
  ].filter((detail) => detail !== undefined);
  return [node, reason, details.length > 0 ? `${message} (${details.join(', ')})` : message];
}
