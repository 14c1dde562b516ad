import type { Verdict } from '../../controller/plan/verdict.ts';
import { durationText, rfc3339 } from '../../lib/clock.ts';
import type { Inspection } from '../inspect.ts';
import { type Look, paint, table, wrapped } from '../look.ts';
import type { Stuck } from './drains.ts';
import type { Forecast } from './forecast.ts';
import { startsOf } from './values.ts';

const WIDE = { columns: Infinity };

/** What would start now, what keeps the others, and which drains cannot end. */
export function planLines(seen: Inspection, stuck: readonly Stuck[], look: Look): readonly string[] {
  const { plan, unknown, now } = seen;
  const starting = new Set(startsOf(seen).map(({ node }) => node));
  const policies = new Map(plan.verdicts.map(({ node, policy }) => [node, policy]));
  const starts = startsOf(seen).map(({ node, spec }) => ['', node, spec.version ?? '', policyText(policies.get(node))]);
  const others = plan.verdicts.filter(({ node, reason }) => !starting.has(node) && !AT_REST.has(reason));
  const rows = others.toSorted(byPosition).map((verdict) => ['', verdict.node, verdict.reason, waitText(verdict, now)]);
  return [
    ...unknownLines(unknown, look),
    paint(look, 'head', starts.length > 0 ? 'WOULD START' : 'NOTHING WOULD START'),
    ...table(starts, WIDE),
    ...section('OTHERS', table(rows, WIDE), look),
    ...stuckLines(stuck, look),
  ];
}

const AT_REST: ReadonlySet<Verdict['reason']> = new Set<Verdict['reason']>(['UpToDate', 'NoUpdateOffered']);

const byPosition = (a: Verdict, b: Verdict): number => (a.position ?? Infinity) - (b.position ?? Infinity) || 0;

function waitText({ message, position, until }: Verdict, now: number): string {
  const details = [
    ...(position === undefined ? [] : [`position ${position}`]),
    ...(until === undefined ? [] : [`in ${durationText(until - now)}`]),
  ];
  return details.length > 0 ? `${message} (${details.join(', ')})` : message;
}

const policyText = (policy: string | undefined): string => (policy === undefined ? '' : `policy ${policy}`);

const unknownLines = (unknown: readonly string[], look: Look): readonly string[] =>
  unknown.map((one) => paint(look, 'late', `not known: ${one}`));

const section = (title: string, lines: readonly string[], look: Look): readonly string[] =>
  lines.length === 0 ? [] : ['', paint(look, 'head', title), ...lines];

function stuckLines(stuck: readonly Stuck[], look: Look): readonly string[] {
  const rows = stuck.map(({ node, pod, because }) => ['', node, pod, because]);
  return section('DRAINS THAT CANNOT END AS THINGS ARE', table(rows, WIDE), look);
}

interface Foreseen {
  readonly seen: Inspection;
  readonly forecast: Forecast;
  readonly stuck: readonly Stuck[];
}

/** Every start by time, the end, who is left, and what was assumed. */
export function forecastLines({ seen, forecast, stuck }: Foreseen, look: Look): readonly string[] {
  const { starts, left } = forecast;
  const rows = starts.map(({ at, node, version, policy, endsAt }) => {
    const took = endsAt === undefined ? 'does not end' : `takes ${durationText(endsAt - at)}`;
    return [rfc3339(at), node, version ?? '', took, policyText(policy)];
  });
  const remaining = left.map(({ node, reason, message }) => ['', node, reason, message]);
  return [
    ...unknownLines(seen.unknown, look),
    paint(look, 'head', starts.length > 0 ? 'STARTS' : 'NOTHING WOULD START'),
    ...table(rows, WIDE),
    ...section('NOT UPDATED IN THE END', table(remaining, WIDE), look),
    ...stuckLines(stuck, look),
    '',
    ...wrapped(endText(forecast, seen.now), { columns: look.columns, indent: 2 }),
  ];
}

function endText(forecast: Forecast, now: number): string {
  const { starts, endsAt, mostAtOnce, isCut, typicalMs, isDurationAssumed } = forecast;
  const duration = durationText(typicalMs);
  const basis = isDurationAssumed
    ? `No node has completed an update here: that one takes ${duration} is a guess.`
    : `An update takes ${duration} here, the median of the last ones.`;
  const end = isCut ? 'there is more to come after' : 'over at';
  const many = `${starts.length} updates, ${mostAtOnce} at once at most`;
  return `${many}; ${end} ${rfc3339(endsAt)}, in ${durationText(endsAt - now)}. ${basis} It is assumed that none fails.`;
}
