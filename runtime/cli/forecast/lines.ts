import type { Start } from '../../controller/plan/facts/commands.ts';
import { isDone } from '../../controller/plan/facts/reasons.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import { durationText, rfc3339 } from '../../lib/clock.ts';
import type { Here } from '../arguments.ts';
import { haltedLines } from '../halted.ts';
import type { Inspection } from '../inspect.ts';
import { noLeaderLines, noLeaderValue } from '../leader.ts';
import { PLAIN, type Terminal, paint, table, wrapped } from '../output/terminal.ts';
import { firstOf, timeValue, untilText, verdictValue, unknownLines } from '../output/output.ts';
import { momentText } from '../waves/words.ts';
import type { Drains } from './drains.ts';
import type { Forecast } from './forecast.ts';

/** The starts of this moment, what keeps the other nodes waiting, and which drains cannot end. */
export function planLines({ seen, drains, here }: PlanView, terminal: Terminal): readonly string[] {
  const { plan, unknown, noLeader, now } = seen;
  const starting = new Set(startsOf(seen).map(({ node }) => node));
  const policies = new Map(plan.verdicts.map(({ node, policy }) => [node, policy]));
  const starts = startsOf(seen).map(({ node, spec }) => ['', node, spec.version ?? '', policyText(policies.get(node))]);
  const others = plan.verdicts.filter(({ node, reason }) => !starting.has(node) && !isDone(reason));
  const rows = others.toSorted(byPosition).map((verdict) => ['', verdict.node, verdict.reason, waitText(verdict, now)]);
  return [
    ...noLeaderLines(noLeader, here),
    ...haltedLines(plan.halted, here),
    ...unknownLines(unknown, terminal),
    paint(terminal, 'head', starts.length > 0 ? 'WOULD START' : 'NOTHING WOULD START'),
    ...table(starts, PLAIN),
    ...section('OTHERS', table(rows, PLAIN), terminal),
    ...section('NEW PODS', newPodLines(plan), terminal),
    ...drainLines(drains, terminal),
  ];
}

/** Which taints would come and go. */
function newPodLines({ preferences, arrivals }: Inspection['plan']): readonly string[] {
  const named = (isAvoided: boolean) => preferences.flatMap((one) => (one.isAvoided === isAvoided ? one.node : []));
  const said = [
    ['would avoid', named(true)],
    ['would no longer avoid', named(false)],
    ['would come to, for they have arrived,', arrivals],
  ] as const;
  return said.flatMap(([what, nodes]) => (nodes.length === 0 ? [] : [`  ${what} ${firstOf(nodes, 3)}`]));
}

const byPosition = (a: Verdict, b: Verdict): number => (a.position ?? Infinity) - (b.position ?? Infinity) || 0;

function waitText({ reason, message, position, until }: Verdict, now: number): string {
  const details = [
    ...(position === undefined ? [] : [`position ${position}`]),
    ...(until === undefined ? [] : [untilText(reason, until - now)]),
  ];
  return details.length > 0 ? `${message} (${details.join(', ')})` : message;
}

const policyText = (policy: string | undefined): string => (policy === undefined ? '' : `policy ${policy}`);

const section = (title: string, lines: readonly string[], terminal: Terminal): readonly string[] =>
  lines.length === 0 ? [] : ['', paint(terminal, 'head', title), ...lines];

type Told = Omit<Drains, 'unknown'>;

function drainLines({ stuck, crowded, finishing }: Told, terminal: Terminal): readonly string[] {
  const rows = stuck.map(({ node, pod, because }) => ['', node, pod, because]);
  const patient = finishing.map(({ node, pods, upToMs }) => {
    return ['', node, firstOf(pods, 3), `for ${durationText(upToMs)} at most`];
  });
  const lacking = crowded.map(({ node, lack }) => ['', node, lack]);
  return [
    ...section('DRAINS THAT CANNOT END AS THINGS ARE', table(rows, PLAIN), terminal),
    ...section('NO ROOM ELSEWHERE FOR THE PODS OF', table(lacking, PLAIN), terminal),
    ...section('PODS THAT FINISH BEFORE THE DRAIN OF', table(patient, PLAIN), terminal),
  ];
}

interface PlanView {
  readonly seen: Inspection;
  readonly drains: Told;
  readonly here: Here;
}

interface ForecastView extends PlanView {
  readonly forecast: Forecast;
}

/** Every start in order of time, the nodes that are not updated in the end, and the end with its assumptions. */
export function forecastLines({ seen, forecast, drains, here }: ForecastView, terminal: Terminal): readonly string[] {
  const { starts, left } = forecast;
  const rows = starts.map(({ at, node, version, policy, waveAt, endsAt }) => {
    const took = endsAt === undefined ? 'does not end' : `takes ${durationText(endsAt - at)}`;
    return [rfc3339(at), node, version ?? '', took, policyText(policy), waveText({ waveAt, policy }, seen)];
  });
  const remaining = left.map(({ node, reason, message }) => ['', node, reason, message]);
  return [
    ...noLeaderLines(seen.noLeader, here),
    ...haltedLines(seen.plan.halted, here),
    ...unknownLines(seen.unknown, terminal),
    paint(terminal, 'head', starts.length > 0 ? 'STARTS' : 'NOTHING WOULD START'),
    ...table(rows, PLAIN),
    ...section('NOT UPDATED IN THE END', table(remaining, PLAIN), terminal),
    ...drainLines(drains, terminal),
    '',
    ...wrapped(endText(forecast, seen.now), { columns: terminal.columns, indent: 2 }),
  ];
}

/** Why it starts no sooner: e.g. `its wave opens Sat 29 Aug, 17:00 UTC, its next window Sun 30 Aug, 22:00 UTC`. */
function waveText(
  { waveAt, policy }: Pick<Forecast['starts'][number], 'waveAt' | 'policy'>,
  { policiesAt }: Inspection,
): string {
  if (waveAt === undefined) return '';
  const view = policiesAt(waveAt).find((one) => one.policy.name === policy);
  const window = view?.kind === 'valid' && !view.window.open ? view.window.changesAt : undefined;
  const opens = `its wave opens ${momentText(waveAt)}`;
  return window === undefined ? opens : `${opens}, its next window ${momentText(window)}`;
}

function endText(forecast: Forecast, now: number): string {
  const { starts, endsAt, mostAtOnce, isCut, typicalMs, isDurationAssumed } = forecast;
  const duration = durationText(typicalMs);
  const basis = isDurationAssumed
    ? `No node has completed an update here: that one takes ${duration} is a guess.`
    : `An update takes ${duration} here, the median of the last ones.`;
  const end = isCut ? 'there is more to come after' : 'over at';
  const many = `${starts.length} updates, ${mostAtOnce} at once at most`;
  const checks = forecast.areChecksAssumed ? ', and that every check passes at once, which nobody can know' : '';
  const assumed = `It is assumed that none fails besides those that failed on a halted release${checks}.`;
  return `${many}; ${end} ${rfc3339(endsAt)}, in ${durationText(endsAt - now)}. ${basis} ${assumed}`;
}

const startsOf = ({ plan }: Inspection): readonly Start[] =>
  plan.commands.filter((command) => command.kind === 'start');

const drainsValue = ({ stuck, crowded, finishing }: Told): object => ({
  drainsThatCannotEnd: stuck,
  drainsWithoutRoom: crowded,
  drainsThatLetFinish: finishing.map(({ node, pods, upToMs }) => ({ node, pods, upToSeconds: upToMs / 1000 })),
});

export function planValue(seen: Inspection, drains: Told): object {
  const { plan, unknown, noLeader, now } = seen;
  return {
    at: rfc3339(now),
    noLeader: noLeaderValue(noLeader),
    halted: plan.halted,
    notKnown: unknown,
    starts: startsOf(seen).map(({ node, spec }) => ({ node, version: spec.version })),
    nextChangeAt: timeValue(plan.requeueAt),
    nodes: plan.verdicts.map(verdictValue),
    preferences: plan.preferences,
    arrivals: plan.arrivals,
    ...drainsValue(drains),
  };
}

export function forecastValue({ plan, unknown, noLeader, now }: Inspection, forecast: Forecast, drains: Told): object {
  return {
    at: rfc3339(now),
    noLeader: noLeaderValue(noLeader),
    halted: plan.halted,
    notKnown: unknown,
    starts: forecast.starts.map((one) => ({
      ...one,
      at: rfc3339(one.at),
      endsAt: timeValue(one.endsAt),
      waveAt: timeValue(one.waveAt),
    })),
    endsAt: rfc3339(forecast.endsAt),
    mostAtOnce: forecast.mostAtOnce,
    left: forecast.left.map(verdictValue),
    isCut: forecast.isCut,
    typicalSeconds: Math.round(forecast.typicalMs / 1000),
    isDurationAssumed: forecast.isDurationAssumed,
    areChecksAssumed: forecast.areChecksAssumed,
    ...drainsValue(drains),
  };
}
