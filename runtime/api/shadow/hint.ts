import { instantOf, rfc3339 } from '../../lib/clock.ts';
import { STAGE_ANNOTATION } from './names.ts';
import { isSemver } from './semver.ts';

/** A version that a node at rest is to prepare before its update begins (rule H1). The controller gives it, and takes it away. */
export interface Hint {
  readonly version: string;
  /** When it was given, milliseconds since the Unix epoch; undefined where that cannot be read. */
  readonly since: number | undefined;
}

/** The hint among the annotations of a shadow; undefined where there is none that names a version. */
export function hintIn(annotations: Readonly<Record<string, string>> | undefined): Hint | undefined {
  const [version = '', since] = annotations?.[STAGE_ANNOTATION]?.split(' ') ?? [];
  return isSemver(version) ? { version, since: instantOf(since) } : undefined;
}

/** The value of the annotation. @param now milliseconds since the Unix epoch */
export const hintText = (version: string, now: number): string => `${version} ${rfc3339(now)}`;
