import { byWhom } from '../../api/shadow/asked.ts';
import type { Holder } from '../../controller/plan/groups/busy.ts';
import { needsPerson, traitsOf } from '../../controller/plan/facts/reasons.ts';
import { STEP_WORDS } from '../../controller/plan/facts/steps.ts';
import type { OsReleaseName } from '../../controller/plan/facts/ledgers.ts';
import { concurrency } from '../../api/policy/quantity.ts';
import type { Cluster } from '../command.ts';
import { type Forecast, forecastFrom } from '../forecast/forecast.ts';
import { AS_IS, type Here, told } from '../arguments.ts';
import { decisionText, haltedCommands, haltedRemedy, haltedText } from '../halted.ts';
import { NAME } from '../help.ts';
import { inspect, type Inspection } from '../inspect.ts';
import { noLeaderRemedy, noLeaderText } from '../leader.ts';
import { firstOf, meanwhileText } from '../output/output.ts';
import { byTime, type Moment, wordOf } from '../past/moments.ts';
import { pastEvents, pastOfNode } from '../past/past.ts';
import { type Member, membersOf } from '../status/members.ts';
import { awaySince, drainOf, type PolicyStatus, type Reasoned, statusOf, zoneOf } from '../status/status.ts';
import { whyHeld } from '../commands/why.ts';
import { begunBy, timelineOf } from './bars.ts';
import { curvesOf } from './curves.ts';
import type {
  FleetCard,
  Model,
  NodeRow,
  NodePast,
  PlaceHolder,
  PolicyCard,
  Queue,
  ReleaseRow,
  EventRow,
  Trouble,
} from './wire.ts';

interface Sources {
  readonly seen: Inspection;
  readonly forecast: Forecast;
  readonly past: { readonly moments: readonly Moment[]; readonly unknown: readonly string[] };
  /** The context of the kubeconfig; undefined in a pod. */
  readonly cluster: string | undefined;
  /** What commands the page shows have to say of cluster and user. */
  readonly here: Here;
}

/** How many Events and next starts are shown, and how many nodes of a group are named. */
const MAX = { events: 40, named: 4, starts: 12 } as const;

/** Makes the page's model from what the commands print. */
function modelOf(sources: Sources): Model {
  const { seen, forecast, past } = sources;
  const members = membersOf(seen);
  const status = statusOf(seen, forecast, members);
  return {
    sections: {
      fleet: fleetOf(status, sources),
      policies: status.policies.map((policy) => cardOf(policy, seen)),
      curves: curvesOf(status.reaches, seen),
      queue: queueOf(status.waiting, sources),
      timeline: timelineOf(members, {
        forecast,
        pace: status.pace,
        begun: begunBy(past.moments),
        now: seen.now,
      }),
      events: past.moments.slice(-MAX.events).toReversed().map(eventRowOf),
    },
    nodes: members.map((member) => rowOf(member, seen)),
  };
}

function fleetOf(status: ReturnType<typeof statusOf>, { seen, past, cluster, here }: Sources): FleetCard {
  const { counts, paused, pausedBy, notKnown, pace } = status;
  const { capacity, holders } = seen.plan.budget;
  return {
    cluster,
    flags: here('').trim(),
    counts,
    paused,
    pausedBy: byWhom(pausedBy),
    notKnown: [...notKnown, ...past.unknown],
    decided: seen.snapshot.releases.objects.flatMap((one) => decisionText(one) ?? []),
    needsYou: needsYouOf(status, here),
    budget: {
      capacity: Number.isFinite(capacity) ? capacity : undefined,
      holders: holders.slice(0, MAX.named).map((holder) => placeOf(holder, seen)),
      taken: holders.length,
    },
    pace: { ...pace, waitsFor: pace.waitsFor.map(({ reason, nodes }) => `${firstOf(nodes, MAX.named)} (${reason})`) },
  };
}

/** What waits for a person, with the commands that show more or end it. */
function needsYouOf(status: ReturnType<typeof statusOf>, here: Here): readonly Trouble[] {
  const command = (words: string): string => here(`${NAME} ${words}`);
  const halted = status.halted.map((one): Trouble => {
    const remedy = haltedRemedy(one, here);
    const commands = ['releases', ...haltedCommands(one)].map(command);
    return { title: 'Release halted', text: haltedText(one), remedy, commands, nodes: [], count: 0 };
  });
  const { noLeader } = status;
  const nobody: readonly Trouble[] = noLeader
    ? [
        {
          title: 'No controller leads',
          text: noLeaderText(noLeader),
          remedy: noLeaderRemedy(here),
          commands: [command('doctor')],
          nodes: [],
          count: 0,
        },
      ]
    : [];
  const others = status.needsYou.map((one) => ({
    ...troubleOf(one, here),
    commands: [command(`why ${one.nodes[0]}`)],
  }));
  return [...nobody, ...halted, ...others];
}

function troubleOf({ reason, message, nodes, since, until, policy }: Reasoned, here: Here): Trouble {
  const { remedy } = traitsOf(reason);
  const text = policy === undefined ? message : `${message} (policy ${policy})`;
  const named = nodes.slice(0, MAX.named);
  return { title: reason, text, remedy: remedy && told(remedy, here), nodes: named, count: nodes.length, since, until };
}

function placeOf(holder: Holder, { plan }: Inspection): PlaceHolder {
  const { node, until } = holder;
  const verdict = plan.verdicts.find((one) => one.node === node);
  return { node, why: verdict?.reason === 'Updating' ? undefined : whyHeld(holder, verdict), until };
}

function cardOf({ name, counts, progressing, halted, late }: PolicyStatus, { snapshot, plan }: Inspection): PolicyCard {
  const view = snapshot.policies.find(({ policy }) => policy.name === name);
  const quantity = view?.kind === 'valid' ? view.policy.maxConcurrent : undefined;
  const atOnce = quantity === undefined ? undefined : concurrency(quantity, counts.nodes);
  return {
    name,
    counts,
    says: progressing,
    halted,
    late,
    atOnce: atOnce === Infinity ? undefined : atOnce,
    nextChangeAt: plan.policies.find((report) => report.name === name)?.nextChangeAt,
    releases: releasesOf(name, plan),
  };
}

/** The releases of a policy that nodes are offered, and the completed one of each family for which nothing new is offered. */
function releasesOf(
  policy: string | undefined,
  { policies, offered, halted }: Inspection['plan'],
): readonly ReleaseRow[] {
  const own = halted.filter((one) => one.policy === policy);
  const failures = new Map(own.map(({ family, version, failures: count }) => [`${family} ${version}`, count]));
  const release = ({ family, version }: OsReleaseName, state: ReleaseRow['state'], failed = 0): ReleaseRow => {
    const count = failures.get(`${family} ${version}`);
    return { family, version, state: count === undefined ? state : 'halted', failed: count ?? failed };
  };
  const report = policies.find(({ name }) => name === policy);
  // Only policies have a status. For other nodes, all that is known is what they are offered.
  if (!report) return offered.filter((one) => one.policy === policy).map((one) => release(one, 'offered'));
  const awaited = new Set(report.releases.filter((one) => one.offered).map(({ family }) => family));
  return report.releases
    .filter(({ family, offered: isOffered, complete }) => isOffered || (complete && !awaited.has(family)))
    .map((one) => release(one, stateOf(one), one.failed));
}

function stateOf({ complete, proven }: { readonly complete: boolean; readonly proven: boolean }): ReleaseRow['state'] {
  if (complete) return 'complete';
  return proven ? 'proven' : 'unproven';
}

function queueOf(waiting: readonly Reasoned[], { seen, forecast, here }: Sources): Queue {
  const runs = new Map(seen.snapshot.nodes.map(({ name, version }) => [name, version]));
  const started = new Set(seen.plan.budget.holders.map(({ node }) => node));
  return {
    next: forecast.starts
      .slice(0, MAX.starts)
      .filter(({ node }) => !started.has(node))
      .map(({ node, policy, version, at }) => ({ node, policy, runs: runs.get(node), version, at })),
    waiting: waiting.map((one) => troubleOf(one, here)),
  };
}

function rowOf(member: Member, seen: Inspection): NodeRow {
  const { snapshot } = seen;
  const { info, verdict, standing, step } = member;
  const { node, permit } = info;
  const { policy, reason, message, since, until } = verdict;
  return {
    name: node.name,
    policy,
    zone: zoneOf(
      node,
      snapshot.policies.find((one) => one.policy.name === policy),
    ),
    family: node.family,
    standing,
    step,
    doing: step && STEP_WORDS[step],
    stuck: needsPerson(reason) || undefined,
    reason,
    message,
    // 0 means that the time is not known.
    since: since || permit?.since,
    until,
    awaySince: awaySince(member),
    drain: drainOf(member, seen),
    meanwhile: meanwhileText(verdict),
    failure: failureOf(member),
    ...reportedBy(info),
  };
}

/** The versions that its agent reports, and its last update. */
function reportedBy({ node, shadow }: Member['info']) {
  const { status, lastUpdateMs, finishedAt } = shadow ?? {};
  return { runs: status?.current_version ?? node.version, offered: status?.target_version, lastUpdateMs, finishedAt };
}

function failureOf({ info }: Member): NodeRow['failure'] {
  const { status, failedAt } = info.shadow ?? {};
  if (!status || status.crash_count === 0) return undefined;
  const { last_failure: last, crash_count: times } = status;
  return { text: last ? `${last.reason}: ${last.message}` : 'its agent did not say why', times, at: failedAt };
}

const eventRowOf = ({ at, object, type, reason, message, count }: Moment): EventRow => ({
  at,
  object,
  type,
  reason: wordOf({ reason }),
  message,
  times: count,
});

/** Reads the fleet for the page. @param now milliseconds since the Unix epoch @param here for the commands that it shows @throws as `inspect` */
export async function readModel(cluster: Cluster, now: number, here: Here = AS_IS): Promise<Model> {
  const [seen, past] = await Promise.all([inspect(cluster, now), pastEvents(cluster)]);
  const moments = byTime(past.moments);
  return modelOf({ seen, forecast: forecastFrom(seen), past: { ...past, moments }, cluster: cluster.context, here });
}

/** Reads the past of a node, the newest moment first. @throws RefusedCommandError where nothing is known of it, and as `KubeTransport.request` */
export async function readPast(cluster: Cluster, node: string): Promise<NodePast> {
  const { moments, unknown } = await pastOfNode(cluster, node);
  return { notKnown: unknown, moments: byTime(moments).toReversed().map(eventRowOf) };
}
