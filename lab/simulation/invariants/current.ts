import type { Entry, Instant } from '../types.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule } from './rule.ts';
import { SEEN_AFTER } from './sight.ts';
import { decidedIn } from './obeyed.ts';

/** What every decision depends on. */
const RESOURCES = ['nodes', 'bottlerocketshadows', 'pods', 'namespaces', 'bottlerocketupdatepolicies'];
/** So long what cannot be read any more counts as current, milliseconds. */
const BELIEVED = 90_000;
/** The kind is not there, so that there are none; once it is, nobody who is told so knows anything. */
const ABSENT = 404;
/** The list has to be read anew. */
const GONE = 410;

/** What a process cannot read: it disturbs nothing anew, but for a while if it has read it before. */
export const current: Rule = {
  name: 'current',
  begin(picture) {
    const reads = RESOURCES.map((resource) => new Reads(resource, picture));
    return {
      see(entry) {
        for (const one of reads) one.see(entry);
        const step = entry.kind === 'write' ? decidedIn(picture, entry) : undefined;
        if (!step || entry.kind !== 'write') return NOTHING;
        const { by, sentAt } = entry;
        const unread = reads.find((one) => one.isUnread(by, sentAt, picture.beginnings.of(by, sentAt)));
        return unread
          ? [`${by} ${step.what} ${step.node.facts.name} although it may not read ${unread.resource}`]
          : NOTHING;
      },
    };
  },
};

/** What came of each process' reads of one resource. */
class Reads {
  readonly resource: string;
  readonly #picture: Picture;
  /** When it was last answered with them. */
  readonly #readAt = new Map<string, Instant>();
  /** Since when it was only refused. */
  readonly #refusedAt = new Map<string, Instant>();

  constructor(resource: string, picture: Picture) {
    this.resource = resource;
    this.#picture = picture;
  }

  see(entry: Entry): void {
    if (entry.kind !== 'request' || entry.resource !== this.resource) return;
    const { by, verb, code, at } = entry;
    if (verb !== 'list' && verb !== 'watch') return;
    if (code === GONE) return;
    if (code < 400 || (code === ABSENT && this.#picture.definedAt === -Infinity)) {
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
