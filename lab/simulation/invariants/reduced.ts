import type { AskedEntry, Entry, Instant, RequestEntry } from '../types.ts';
import { at as within, isApiserver, parsed, shadowFacts } from './facts.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';

/** Answers that refuse what a write says. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 422]);
/** For how long it has to be refused without a break; where nothing was for the longer time, that was one. Milliseconds. */
const [BREAKS_AFTER, LASTS] = [600_000, 120_000];

/** B8: an agent leaves the reason off a failure that it tells only where the API server has refused its status for two minutes. */
export const reduced: Rule = {
  name: 'reduced',
  begin(picture) {
    const refused = new Refused();
    return {
      see(entry) {
        refused.see(entry);
        if (entry.kind !== 'asked' || !leavesOff(entry)) return NOTHING;
        const { name, status } = picture.shadows.get(`brs-${entry.node}`) ?? {};
        if (name === undefined || status?.state === 'ErrorReset' || refused.isFor(name, entry.at)) return NOTHING;
        return [`${entry.by} does not say why it has failed, and nobody refused that`];
      },
    };
  },
};

/** Since when writes of a status are refused, by name of the shadow. */
class Refused {
  readonly #streaks = new Map<string, { readonly first: Instant; readonly last: Instant }>();

  see(entry: Entry): void {
    if (entry.kind === 'request' && isRefused(entry)) this.#refused(entry.name ?? '', entry.at);
    if (entry.kind === 'write' && isWhole(entry)) this.#taken(entry);
  }

  #refused(shadow: string, at: Instant): void {
    const { first, last } = this.#streaks.get(shadow) ?? { first: at, last: at };
    this.#streaks.set(shadow, { first: at - last < BREAKS_AFTER ? first : at, last: at });
  }

  /** One that was sent before the first refusal may have been under way. */
  #taken({ name, sentAt }: Write): void {
    const { first = Infinity } = this.#streaks.get(name) ?? {};
    if (first < sentAt) this.#streaks.delete(name);
  }

  isFor(shadow: string, now: Instant): boolean {
    const { first = Infinity, last = -Infinity } = this.#streaks.get(shadow) ?? {};
    return first + LASTS <= now && now - last < BREAKS_AFTER;
  }
}

/** A status that says why its node has failed is taken. */
const isWhole = ({ by, resource, subresource, after }: Write): boolean =>
  isApiserver(by) &&
  resource === 'bottlerocketshadows' &&
  subresource === 'status' &&
  after !== undefined &&
  shadowFacts(after).status?.reason !== undefined;

const isRefused = ({ by, resource, subresource, code }: RequestEntry): boolean =>
  isApiserver(by) && resource === 'bottlerocketshadows' && subresource === 'status' && REFUSALS.has(code);

/** Of our own agent. */
function leavesOff({ by, body }: AskedEntry): boolean {
  const status = by.startsWith('agent-') ? parsed(body) : undefined;
  return within(status, 'current_state') === 'ErrorReset' && within(status, 'last_failure') == null;
}
