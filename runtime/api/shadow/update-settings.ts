/** What a status may hold of a host's settings.updates. Characters. */

export const MAX_URL = 1024;
/** The whole of a version, with its pre-release and build. */
export const MAX_LOCK = 128;

/** What a version-lock says: `latest`, or a version. Hosts keep it as it was written, with a `v` or without. */
export const lockedTo = (lock: string): string => lock.replace(/^v/, '');

/** Whether hosts can have it as a seed. */
export const isSeed = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;

/** A URL as others may read it, without user, query and fragment; undefined for a text that is none. */
export function publicUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url ? `${url.protocol}//${url.host}${url.pathname}` : undefined;
}
