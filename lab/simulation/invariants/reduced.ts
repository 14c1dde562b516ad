import { getOrInsert } from '../../../runtime/lib/maps.ts';
import type { AskedEntry, Instant, RequestEntry } from '../types.ts';
import { at as within, isApiserver, parsed } from './facts.ts';
import { NOTHING, type Rule } from './rule.ts';

/** Answers that refuse what a write says. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);
/** For how long it has to be refused without a break; what was refused longer ago says nothing of that. Milliseconds. */
const [BREAKS_AFTER, LASTS] = [600_000, 120_000];

/** B8: an agent leaves the reason off a failure that it tells only where the API server has refused its status for two minutes. */
export const reduced: Rule = {
  name: 'reduced',
  begin(picture) {
    /** By name of the shadow, when a write of its status was refused. */
    const refusals = new Map<string, Instant[]>();
    const isRefusedFor = (shadow: string, now: Instant): boolean => {
      const first = refusals.get(shadow)?.find((refusedAt) => now - refusedAt < BREAKS_AFTER) ?? Infinity;
      return first + LASTS <= now;
    };
    const note = ({ at, name = '', ...request }: RequestEntry & { readonly at: Instant }): void => {
      if (isRefused(request)) getOrInsert(refusals, name, (): Instant[] => []).push(at);
    };
    return {
      see(entry) {
        if (entry.kind === 'request') note(entry);
        if (entry.kind !== 'asked' || !leavesOff(entry)) return NOTHING;
        const { name, status } = picture.shadows.get(`brs-${entry.node}`) ?? {};
        if (name === undefined || status?.state === 'ErrorReset' || isRefusedFor(name, entry.at)) return NOTHING;
        return [`${entry.by} does not say why it has failed, and nobody refused that`];
      },
    };
  },
};

const isRefused = ({ by, resource, subresource, code }: Omit<RequestEntry, 'name'>): boolean =>
  isApiserver(by) && resource === 'bottlerocketshadows' && subresource === 'status' && REFUSALS.has(code);

/** Of our own agent. */
function leavesOff({ by, body }: AskedEntry): boolean {
  const status = by.startsWith('agent-') ? parsed(body) : undefined;
  return within(status, 'current_state') === 'ErrorReset' && within(status, 'last_failure') == null;
}
