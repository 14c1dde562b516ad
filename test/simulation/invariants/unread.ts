import type { Entry, Instant } from '../types.ts';
import { NOTHING, type Rule } from './rule.ts';
import { SEEN_AFTER } from './sight.ts';
import { ofSteps } from './starts.ts';

/** So long policies that cannot be read any more are believed, milliseconds. */
const BELIEVED = 600_000;
/** The kind is not there, so that there are none. */
const ABSENT = 404;
/** The list has to be read anew. */
const GONE = 410;

/** Policies that a process cannot read: it starts nothing, but for a while if it has read them before. */
export const unread: Rule = {
  name: 'unread',
  begin(picture) {
    const reads = new Reads();
    const steps = ofSteps(picture, ({ kind, write: { sentAt, by } }) =>
      kind === 'start' && reads.isUnread(by, sentAt, picture.beginnings.of(by, sentAt))
        ? 'although nobody may read the policies'
        : undefined,
    );
    return {
      see(entry) {
        reads.see(entry);
        return steps.see?.(entry) ?? NOTHING;
      },
    };
  },
};

/** What came of each process' reads of policies. */
class Reads {
  /** When it was last answered with them. */
  readonly #readAt = new Map<string, Instant>();
  /** Since when it was only refused. */
  readonly #refusedAt = new Map<string, Instant>();

  see(entry: Entry): void {
    if (entry.kind !== 'request' || entry.resource !== 'bottlerocketupdatepolicies') return;
    const { by, verb, code, at } = entry;
    if (verb !== 'list' && verb !== 'watch') return;
    if (code === GONE) return;
    if (code < 400 || code === ABSENT) {
      this.#refusedAt.delete(by);
      this.#readAt.set(by, at);
    } else this.#refusedAt.set(by, this.#refusedAt.get(by) ?? at);
  }

  /** @param begunAt of the process that sent it */
  isUnread(by: string, sentAt: Instant, begunAt: Instant): boolean {
    const since = this.#refusedAt.get(by) ?? Infinity;
    if (since > sentAt) return false;
    const hasRead = (this.#readAt.get(by) ?? -Infinity) > begunAt;
    return !hasRead || sentAt - since > BELIEVED + SEEN_AFTER;
  }
}
