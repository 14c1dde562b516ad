import { type Asked, askedIn, askedText } from '../shadow/asked.ts';
import { GROUP } from '../shadow/names.ts';
import type { Decided, Decision } from './model.ts';

/** On a BottlerocketRelease: what was decided last by `kubectl brupop`, when (RFC 3339), and by whom, in that person's words. */
export const DECIDED_ANNOTATION = `${GROUP}/decided`;

/** On a BottlerocketRelease: when it was expedited last by `kubectl brupop`, and by whom. */
export const EXPEDITED_ANNOTATION = `${GROUP}/expedited`;

/** `Rollback` is what the command of this name writes, whatever the decision. */
export const decidedText = (decision: Decision | 'Rollback', decided: Decided): string =>
  `${decision} ${askedText(decided)}`;

interface Spec {
  readonly decision?: Decision | undefined;
  readonly expediteFor?: readonly string[] | null | undefined;
  readonly rollbackFor?: readonly string[] | null | undefined;
}

export const isRolledBack = ({ rollbackFor }: Pick<Spec, 'rollbackFor'>): boolean => (rollbackFor?.length ?? 0) > 0;

/** As people see it at a glance: nobody starts either where nodes go back. */
export const decidedBy = (spec: Spec): Decision => (isRolledBack(spec) ? 'Halt' : (spec.decision ?? 'Automatic'));

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
  readonly spec: Spec;
}

/** Who has decided what the spec says; undefined where that is not known: whoever edits the object by other means leaves the annotation as it is. */
export function decidedOn({ metadata, spec }: Annotated): Decided | undefined {
  const [, decision, said] = /^(\S+) (.+)$/s.exec(metadata.annotations?.[DECIDED_ANNOTATION] ?? '') ?? [];
  const { by, at } = askedIn(said) ?? {};
  const says = isRolledBack(spec) ? 'Rollback' : spec.decision;
  return by !== undefined && at !== undefined && decision === says ? { by, at } : undefined;
}

/** Who has expedited it; undefined where nobody has, or that is not known. */
export function expeditedOn({ metadata, spec }: Annotated): Asked | undefined {
  const isExpedited = (spec.expediteFor?.length ?? 0) > 0;
  return isExpedited ? askedIn(metadata.annotations?.[EXPEDITED_ANNOTATION]) : undefined;
}
