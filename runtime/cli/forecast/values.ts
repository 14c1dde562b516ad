import type { Start } from '../../controller/plan/commands.ts';
import { rfc3339 } from '../../lib/clock.ts';
import type { Inspection } from '../inspect.ts';
import { timeValue, verdictValue } from '../values.ts';
import type { Stuck } from './drains.ts';
import type { Forecast } from './forecast.ts';

export const startsOf = ({ plan }: Inspection): readonly Start[] =>
  plan.commands.filter((command) => command.kind === 'start');

export function planValue(seen: Inspection, stuck: readonly Stuck[]): object {
  const { plan, unknown, now } = seen;
  return {
    at: rfc3339(now),
    notKnown: unknown,
    starts: startsOf(seen).map(({ node, spec }) => ({ node, version: spec.version })),
    nextChangeAt: timeValue(plan.requeueAt),
    nodes: plan.verdicts.map(verdictValue),
    drainsThatCannotEnd: stuck,
  };
}

export function forecastValue({ unknown, now }: Inspection, forecast: Forecast, stuck: readonly Stuck[]): object {
  return {
    at: rfc3339(now),
    notKnown: unknown,
    starts: forecast.starts.map((one) => ({ ...one, at: rfc3339(one.at), endsAt: timeValue(one.endsAt) })),
    endsAt: rfc3339(forecast.endsAt),
    mostAtOnce: forecast.mostAtOnce,
    left: forecast.left.map(verdictValue),
    isCut: forecast.isCut,
    typicalSeconds: Math.round(forecast.typicalMs / 1000),
    isDurationAssumed: forecast.isDurationAssumed,
    drainsThatCannotEnd: stuck,
  };
}
