import { askedIn, askedText } from '../shadow/asked.ts';
import { GROUP } from '../shadow/names.ts';
import type { Decided, Decision, ReleaseSpec } from './model.ts';

/** On a BottlerocketRelease: what was decided last by `kubectl brupop`, when (RFC 3339), and by whom, in that person's words. */
export const DECIDED_ANNOTATION = `${GROUP}/decided`;

export const decidedText = (decision: Decision, decided: Decided): string => `${decision} ${askedText(decided)}`;

interface Annotated {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
  readonly spec: Pick<ReleaseSpec, 'decision'>;
}

/** Who has decided what the spec says; undefined where that is not known: whoever edits the object by other means leaves the annotation as it is. */
export function decidedOn({ metadata, spec }: Annotated): Decided | undefined {
  const [, decision, said] = /^(\S+) (.+)$/s.exec(metadata.annotations?.[DECIDED_ANNOTATION] ?? '') ?? [];
  const { by, at } = askedIn(said) ?? {};
  return by !== undefined && at !== undefined && decision === spec.decision ? { by, at } : undefined;
}
