import type { Entry, Instant } from '../types.ts';
import { NOTHING, type Rule } from './rule.ts';
import { SEEN_AFTER } from './sight.ts';
import { ofSteps } from './starts.ts';

/** So long policies that cannot be read any more are believed, milliseconds. */
const BELIEVED = 600_000;

/**
 * Policies that cannot be read: nothing starts anywhere. Whoever has begun since has never read them; and whoever stood still then, or whose
 * watches did, has found out only when they went on.
 */
export const unread: Rule = {
  name: 'unread',
  begin(picture) {
    const stills = new Stills();
    // By number of the fault, since when reads are refused.
    const refused = new Map<number, Instant>();
    const steps = ofSteps(picture, ({ kind, write: { sentAt, by } }) => {
      if (kind !== 'start') return undefined;
      const isUnread = [...refused.values()].some((from) => {
        if (from < picture.beginnings.of(by, sentAt)) return true;
        return sentAt - stills.until(by, from) > BELIEVED + SEEN_AFTER;
      });
      return isUnread ? 'although nobody may read the policies' : undefined;
    });
    return {
      see(entry) {
        stills.see(entry);
        if (entry.kind !== 'fault' || entry.name !== 'policies-unreadable') return steps.see?.(entry) ?? NOTHING;
        if (entry.phase === 'begins') refused.set(entry.id, entry.at);
        else refused.delete(entry.id);
        return NOTHING;
      },
    };
  },
};

/** A time in which a process, or each of some, heard nothing. */
interface Still {
  readonly who: readonly string[];
  readonly from: Instant;
  to: Instant;
}

/** When processes heard nothing. */
class Stills {
  /** By number of the fault. */
  readonly #all = new Map<number, Still>();

  see(entry: Entry): void {
    if (entry.kind !== 'fault' || !/^(freeze|watch-)/.test(entry.name)) return;
    const { id, about, at, phase } = entry;
    const still = this.#all.get(id);
    if (phase === 'begins') this.#all.set(id, { who: about.split(', '), from: at, to: Infinity });
    else if (still) still.to = at;
  }

  /** The instant, or when the process heard something again that heard nothing at it. */
  until(process: string, instant: Instant): Instant {
    const during = [...this.#all.values()].filter(
      (one) => one.who.includes(process) && one.from <= instant && instant < one.to,
    );
    return during.length === 0 ? instant : this.until(process, Math.max(...during.map(({ to }) => to)));
  }
}
