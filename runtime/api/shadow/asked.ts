import { shortened } from '../../lib/parts.ts';

/** Who has asked for something by an annotation, in that person's words, and when. */
export interface Asked {
  readonly by: string;
  /** RFC 3339; absent where an older version, or another tool, has written the annotation. */
  readonly at?: string;
}

/** Whether no update starts in the whole fleet. */
export interface Pause {
  /** The namespace has the annotation `paused`. */
  readonly paused: boolean;
  /** Undefined where it has not, or that is not known. */
  readonly pausedBy?: Asked | undefined;
}

/** Most bytes that are shown of what anybody may have written. */
const LONGEST = 128;

/** The value of the annotation. */
export const askedText = ({ by, at }: Required<Asked>): string => `${at} ${by}`;

/** Undefined where the annotation is not there, or says nothing of who set it. */
export function askedIn(value: string | undefined): Asked | undefined {
  const text = value?.trim() ?? '';
  const [, at, by] = /^(\d{4}-\d\d-\d\dT\S+) (.+)$/s.exec(text) ?? [];
  if (at !== undefined && by !== undefined) return { by: shortened(by, LONGEST), at };
  return SAYS_NOTHING.has(text) ? undefined : { by: shortened(text, LONGEST) };
}

const SAYS_NOTHING: ReadonlySet<string> = new Set(['', 'true']);

/** Follows what was asked for. */
export const byWhom = (asked: Asked | undefined): string =>
  asked ? ` by ${asked.by}${asked.at === undefined ? '' : `, ${asked.at}`}` : '';

/** That a node is held. */
export const heldText = (by: Asked | undefined): string =>
  by ? `held${byWhom(by)}` : 'the node bears the hold annotation';

/** That the whole fleet is paused. */
export const pauseText = (by: Asked | undefined): string =>
  by ? `the fleet is paused${byWhom(by)}` : 'the namespace bears the paused annotation';
