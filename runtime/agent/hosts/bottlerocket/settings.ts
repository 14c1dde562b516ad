import { isSeed, MAX_LOCK, MAX_URL, publicUrl } from '../../../api/shadow/update-settings.ts';
import { fieldsOf, jsonObject } from '../../../lib/json.ts';
import type { HostSettings } from '../port.ts';

const KEYS = ['seed', 'ignore-waves', 'version-lock', 'metadata-base-url'] as const;

/** Names settings of updates in a query of the host's API. */
export const keysQuery = (keys: readonly string[]): string =>
  `keys=${keys.map((key) => `settings.updates.${key}`).join(',')}`;

export const SETTINGS_PATH = `/settings?${keysQuery(KEYS)}`;

/** The body of `GET /settings`. What makes no sense counts as not told: no refresh may fail for it. */
export function parseSettings(body: string): HostSettings {
  const said = fieldsOf(jsonObject(body)['updates']);
  const [seed, ignoreWaves, lock, url] = KEYS.map((key) => said[key]);
  return {
    ...(isSeed(seed) && { seed }),
    ...(typeof ignoreWaves === 'boolean' && { ignore_waves: ignoreWaves }),
    ...(typeof lock === 'string' && lock.length <= MAX_LOCK && { version_lock: lock }),
    ...(typeof url === 'string' && withUrl(url)),
  };
}

/** A status is read by more people than may know a password. */
function withUrl(text: string): Pick<HostSettings, 'metadata_base_url'> {
  const url = publicUrl(text);
  return url !== undefined && url.length <= MAX_URL ? { metadata_base_url: url } : {};
}
