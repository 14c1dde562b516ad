import type { Entry, Instant, Scenario, WriteEntry } from '../types.ts';
import type { Picture } from './picture.ts';

/** A rule, judged by the history and by the picture of the world that it makes. */
export interface Rule {
  readonly name: string;
  readonly begin: (picture: Picture, scenario: Scenario) => RuleJudge;
}

export interface RuleJudge {
  /** A sentence for each breach that the entry shows; the picture is that after it. */
  readonly see?: (entry: Entry) => readonly string[];
  /** Whether nothing is waited for any more: once this holds for every judge, and the calm has come, the run is over. @default always */
  readonly isMet?: () => boolean;
  /** What only the end shows. @param endedAt when the run was over */
  readonly end?: (endedAt: Instant) => readonly string[];
}

export type Write = WriteEntry & { readonly at: Instant };

/** A judge of the writes of one resource. */
export function ofWrites(resource: string, judge: (write: Write) => readonly string[]): RuleJudge {
  return { see: (entry) => (entry.kind === 'write' && entry.resource === resource ? judge(entry) : NOTHING) };
}

/** A time in which something is so; `to` is Infinity while it is. */
export interface Span {
  readonly from: Instant;
  to: Instant;
}

export const NOTHING: readonly string[] = [];

/** `12:03:07.250` of an instant, as timelines show it. */
export function clock(instant: Instant): string {
  return new Date(instant).toISOString().slice(11, 23);
}
