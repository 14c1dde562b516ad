import { STEP_WORDS } from '../../controller/plan/facts/steps.ts';
import type { Forecast } from '../forecast/forecast.ts';
import { KIND, shadowName } from '../../api/shadow/names.ts';
import type { Moment } from '../past/moments.ts';
import type { Member } from '../status/members.ts';
import type { Pace } from '../status/pace.ts';
import type { Bar, Timeline } from './wire.ts';

/** Most bars of each kind, and how far the past and what waves bring are shown, milliseconds. */
const MAX_BARS = { past: 16, running: 24, next: 12 } as const;
const FAR_MS = 12 * 3_600_000;

/** When the attempt of a node began that was over at a moment; undefined where nobody knows. */
type Begun = (node: string, over: number) => number | undefined;

interface Known {
  readonly forecast: Forecast;
  readonly pace: Pace;
  readonly begun: Begun;
  readonly now: number;
}

/** The timeline: past updates, running ones, and the next ones of the forecast. */
export function timelineOf(members: readonly Member[], { forecast, pace, begun, now }: Known): Timeline {
  const running = members.flatMap((member) => runningOf(member, pace.typicalMs));
  const busy = new Set(running.map(({ node }) => node));
  const over = members.filter(({ info }) => !busy.has(info.node.name)).flatMap((member) => pastOf(member, begun));
  const past = over.filter(({ to = 0 }) => to > now - FAR_MS).toSorted((a, b) => (a.to ?? 0) - (b.to ?? 0));
  const near = forecast.starts.filter(({ at, waveAt }) => waveAt === undefined || at < now + FAR_MS);
  const next = near.filter(({ node }) => !busy.has(node)).slice(0, MAX_BARS.next);
  // The forecast names nodes as well that have failed and are to try again.
  const foreseen = new Set(next.map(({ node }) => node));
  const waiting = members.filter(({ standing, info }) => standing === 'waiting' && !foreseen.has(info.node.name));
  return {
    bars: [
      ...past.slice(-MAX_BARS.past),
      ...running.toSorted((a, b) => a.from - b.from).slice(0, MAX_BARS.running),
      ...next.map(({ node, at, endsAt = at + forecast.typicalMs }): Bar => {
        return { node, kind: 'next', from: at, to: endsAt };
      }),
    ],
    leftOut: {
      past: Math.max(0, past.length - MAX_BARS.past),
      running: Math.max(0, running.length - MAX_BARS.running),
      waiting: waiting.length,
    },
  };
}

/** By the Events of their starts. */
export function begunBy(moments: readonly Moment[]): Begun {
  const starts = moments.filter(({ reason }) => reason === 'UpdateStarted');
  const byShadow = Map.groupBy(starts, ({ object }) => object);
  return (node, over) =>
    (byShadow.get(`${KIND} ${shadowName(node)}`) ?? [])
      .map(({ at }) => at)
      .filter((at) => at <= over)
      .reduce<number | undefined>((last, at) => Math.max(last ?? at, at), undefined);
}

/** The node's last attempt, where that failed; else its last update. */
function pastOf({ info: { node, shadow } }: Member, begun: Begun): readonly Bar[] {
  const { finishedAt, lastUpdateMs, failedAt, status } = shadow ?? {};
  const hasFailed = failedAt !== undefined && (status?.crash_count ?? 0) > 0;
  if (hasFailed)
    return [{ node: node.name, kind: 'failed', from: begun(node.name, failedAt) ?? failedAt, to: failedAt }];
  if (finishedAt === undefined || lastUpdateMs === undefined) return [];
  return [{ node: node.name, kind: 'done', from: finishedAt - lastUpdateMs, to: finishedAt }];
}

function runningOf(
  { info: { node, permit, shadow }, standing, step }: Member,
  typicalMs: number | undefined,
): readonly Bar[] {
  const from = permit?.since ?? shadow?.stateSeenAt;
  if (from === undefined) return [];
  if (standing === 'failed' && permit) return [{ node: node.name, kind: 'failed', from }];
  if (step === undefined) return [];
  const to = typicalMs === undefined ? undefined : from + typicalMs;
  return [{ node: node.name, kind: 'running', from, to, doing: STEP_WORDS[step] }];
}
