import type { Instant, RequestEntry, HostEntry } from '../types.ts';
import { isAgent, isController, isOperator } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule } from './rule.ts';

const HOUR = 3_600_000;
/** Loads are bounded by the hour, and judged by each sixth of one. */
const SLICE = HOUR / 6;

/** Requests an hour of one process, whatever goes wrong: for itself, and for each node of the fleet. */
interface Bound {
  readonly own: number;
  readonly perNode: number;
}

/** A leader renews its Lease every two seconds, and a candidate reads it as often. */
export const CONTROLLER: Bound = { own: 12_000, perNode: 600 };
/** A drain asks for each pod every five seconds; who asks is reviewed with each request. */
export const APISERVER: Bound = { own: 6000, perNode: 3000 };
export const AGENT: Bound = { own: 2400, perNode: 0 };
/** Of the API of one host: while that works, it is asked again and again whether it is done, and it may hang for two hours. */
export const HOST: Bound = { own: 24_000, perNode: 0 };

/** No hot loop. */
export const load: Rule = {
  name: 'load',
  begin(picture) {
    let ends: Instant = SLICE;
    const counts = new Map<string, number>();
    return {
      see(entry) {
        if (entry.at >= ends) {
          counts.clear();
          ends = Math.floor(entry.at / SLICE) * SLICE + SLICE;
        }
        const who = entry.kind === 'request' ? asker(entry) : entry.kind === 'host' ? called(entry) : undefined;
        if (who === undefined) return NOTHING;
        const count = (counts.get(who) ?? 0) + 1;
        counts.set(who, count);
        // Told once.
        return count === mostOf(picture, who) + 1
          ? [`${who}: more than ${count - 1} requests in ten minutes`]
          : NOTHING;
      },
    };
  },
};

const asker = ({ by }: RequestEntry): string | undefined => (isOperator(by) ? by : undefined);
const called = ({ node, event }: HostEntry): string | undefined =>
  event.kind === 'call' ? `the host of ${node}` : undefined;

function mostOf({ nodes }: Picture, who: string): number {
  const { own, perNode } = isController(who)
    ? CONTROLLER
    : isAgent(who)
      ? AGENT
      : who.startsWith('apiserver')
        ? APISERVER
        : HOST;
  return Math.ceil((own + perNode * nodes.size) / 6);
}
