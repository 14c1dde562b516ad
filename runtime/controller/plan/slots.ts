import type { Command, Free } from './commands.ts';
import type { Health } from './health.ts';
import { isRescued } from './recovery.ts';
import type { SlotView } from './snapshot.ts';
import { isIdle, type Subject } from './subject.ts';

/** What to do with a slot (rules L3 and L4); undefined while its node needs it. */
export function settle(slot: SlotView, subject: Subject | undefined, health: Health | undefined): Command | undefined {
  const { shadow, nodeUid, writes } = slot;
  if (!subject || !health) return { kind: 'free', shadow, nodeUid, because: 'node-gone' };
  if (writes === 'unknown') return { kind: 'bump', shadow, nodeUid };
  const because = subject.node.marks ? undefined : over(subject, health);
  return because && { kind: 'free', shadow, nodeUid, because };
}

function over(subject: Subject, health: Health): Free['because'] | undefined {
  const { shadow, silentSince } = subject;
  if (!shadow) return silentSince === undefined ? undefined : 'shadow-gone';
  if (shadow.stale) return undefined;
  if (isIdle(shadow)) return 'idle';
  return isRescued(subject, health) ? 'rescued' : undefined;
}
