import { boundedJson, type Fields, fieldsOf } from '../lib/json.ts';
import { instantOf } from '../lib/clock.ts';
import { isSemver } from '../api/shadow/semver.ts';
import { isSeed } from '../api/shadow/update-settings.ts';
import { MAX_WAVES } from '../api/waves/waves.ts';
import type { Listed, Request } from './protocol.ts';

/**
 * The versions of one variant and architecture in a manifest. An entry that makes no sense is left out, and so is one of a version that was there
 * before it.
 * @throws JsonError
 */
export function listedIn(manifest: Buffer, { variant, arch }: Pick<Request, 'variant' | 'arch'>): readonly Listed[] {
  const { updates } = fieldsOf(boundedJson(manifest));
  const entries = Array.isArray(updates) ? updates.map(fieldsOf) : [];
  const own = entries.filter((entry) => entry['variant'] === variant && entry['arch'] === arch);
  const listed = own.flatMap((entry) => listedOf(entry) ?? []);
  return [...new Map(listed.map((one) => [one.version, one])).values()];
}

function listedOf({ version, max_version: max, waves }: Fields): Listed | undefined {
  if (typeof version !== 'string' || !isSemver(version)) return undefined;
  const times = Object.entries(fieldsOf(waves)).map(([seed, at]) => ({
    seed: Number(seed),
    at: instantOf(String(at)),
  }));
  const known = times.flatMap(({ seed, at }) => (isSeed(seed) && at !== undefined ? [{ seed, at }] : []));
  // With a wave left out the others would tell other times.
  if (known.length < times.length || known.length > MAX_WAVES) return undefined;
  const maxVersion = typeof max === 'string' && isSemver(max) ? max : undefined;
  return { version, maxVersion, waves: known.toSorted((a, b) => a.seed - b.seed) };
}
