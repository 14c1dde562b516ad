import { type Reason, traitsOf } from '../../controller/plan/facts/reasons.ts';
import { HOUR_MS } from '../../lib/clock.ts';
import type { Forecast } from '../forecast/forecast.ts';
import { medianOf } from '../forecast/durations.ts';
import type { Inspection } from '../inspect.ts';
import type { Member } from './members.ts';

/** The speed of the rollout, and its end by the forecast. */
export interface Pace {
  /** Updates that were finished within the last hour. */
  readonly finishedLastHour: number;
  /** Median duration of the nodes' last updates, milliseconds; undefined where none is known. */
  readonly typicalMs: number | undefined;
  /** The same of their reboots. */
  readonly typicalRebootMs?: number | undefined;
  /** Nodes that are being updated, or start by themselves, and are done in the end. */
  readonly left: number;
  /** Nodes that start once their waves bring them an update. */
  readonly toCome: number;
  /** Nodes with an update that is not done by itself. */
  readonly stuck: number;
  /** What they wait for that only a person ends. */
  readonly waitsFor: readonly Blocker[];
  /** When the last of `left` and `toCome` is done, milliseconds since the Unix epoch; undefined where there is none, or that is not known. */
  readonly endsAt: number | undefined;
  /** More is to come after `endsAt`: the forecast does not go so far. */
  readonly isCut: boolean;
}

/** Nodes of one reason. */
interface Blocker {
  readonly reason: Reason;
  readonly nodes: readonly string[];
}

export function paceOf(
  members: readonly Member[],
  { forecast, noLeader, now }: Pick<Inspection, 'noLeader' | 'now'> & { readonly forecast: Forecast },
): Pace {
  const finished = members.filter(({ info }) => (info.shadow?.finishedAt ?? -Infinity) > now - HOUR_MS);
  const ahead = members.filter(isAhead);
  const waiting = new Set(
    (forecast.isCut ? forecast.left.filter(isForAPerson) : forecast.left).map(({ node }) => node),
  );
  const stuck = ahead.filter(({ info }) => noLeader || waiting.has(info.node.name));
  const left = ahead.length - stuck.length;
  const inWaves = forecast.starts.filter(({ waveAt }) => waveAt !== undefined).map(({ node }) => node);
  const toCome = noLeader ? 0 : new Set(inWaves).size;
  return {
    finishedLastHour: finished.length,
    typicalMs: medianOf(members.flatMap(({ info }) => info.shadow?.lastUpdateMs ?? [])),
    typicalRebootMs: medianOf(members.flatMap(({ info }) => info.shadow?.lastRebootMs ?? [])),
    left,
    toCome,
    stuck: stuck.length,
    waitsFor: blockersIn(forecast.left),
    endsAt: left + toCome > 0 ? forecast.endsAt : undefined,
    isCut: forecast.isCut,
  };
}

const isAhead = ({ standing }: Member): boolean => !['upToDate', 'unreported'].includes(standing);

/** What waits for others where a forecast was cut would have started later in it. */
const isForAPerson = ({ reason }: Forecast['left'][number]): boolean => traitsOf(reason).ends === 'person';

function blockersIn(left: Forecast['left']): readonly Blocker[] {
  const byReason = Map.groupBy(left.filter(isForAPerson), ({ reason }) => reason);
  return [...byReason].map(([reason, those]) => ({ reason, nodes: those.map(({ node }) => node) }));
}
