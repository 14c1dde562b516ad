import type { Published } from '../../api/release/model.ts';
import type { UpdateSettings } from '../../api/shadow/model.ts';
import { compareSemver } from '../../api/shadow/semver.ts';
import { lockedTo } from '../../api/shadow/update-settings.ts';
import { isSameAddress } from '../../api/waves/repositories.ts';
import { opensAt, waveOf } from '../../api/waves/waves.ts';

/** When a release comes to a host, or why it does not. Times are milliseconds since the Unix epoch. */
export type Turn =
  /** From `at` on; -Infinity where it waits for no wave. */
  | { readonly kind: 'wave'; readonly at: number; readonly wave: ReturnType<typeof waveOf>; readonly seed: number }
  | { readonly kind: 'now' }
  | { readonly kind: 'above'; readonly maxVersion: string }
  | { readonly kind: 'locked'; readonly to: string }
  | { readonly kind: 'elsewhere'; readonly url: string }
  | { readonly kind: 'unknown'; readonly why: string };

/** What is published of one version. */
export interface PublishedVersion {
  readonly version: string;
  readonly published: Published;
}

/** @param settings as the host's agent has said them */
export function turnOf({ version, published }: PublishedVersion, settings: UpdateSettings | null | undefined): Turn {
  if (!settings) return { kind: 'unknown', why: 'its host does not tell its settings' };
  const { metadata_base_url: url, version_lock: lock } = settings;
  const own = published.repositories.find(({ metadata }) => url == null || isSameAddress(metadata, url));
  if (!own) return { kind: 'elsewhere', url: url ?? '' };
  const { maxVersion } = published;
  if (maxVersion != null && compareSemver(version, maxVersion) > 0) return { kind: 'above', maxVersion };
  const to = lockedTo(lock ?? 'latest');
  if (to !== 'latest' && to !== version) return { kind: 'locked', to };
  return waveTurn(own, settings);
}

function waveTurn(
  { waves: listed }: Published['repositories'][number],
  { seed, ignore_waves: ignores }: UpdateSettings,
): Turn {
  if (ignores) return { kind: 'now' };
  if (seed == null) return { kind: 'unknown', why: 'its host does not tell its seed' };
  const waves = listed.map(({ seed: until, time }) => ({ seed: until, at: Date.parse(time) }));
  return { kind: 'wave', at: opensAt(waves, seed), wave: waveOf(waves, seed), seed };
}

/** How far a release has come in a family, by the waves alone. */
export interface Reach {
  readonly nodes: number;
  /** Nodes that run it or may have it. */
  readonly now: number;
  /** When half of those that it reaches may have it, and when all; undefined where they do now. */
  readonly halfBy: number | undefined;
  readonly allBy: number | undefined;
  /** Nodes that it does not reach by a wave. */
  readonly others: Readonly<Record<'above' | 'locked' | 'elsewhere' | 'unknown', number>>;
}

/** A host, as far as its turn goes. */
export interface Member {
  readonly runs: string;
  readonly settings: UpdateSettings | null | undefined;
}

/** When each node may have a release, the earliest first, and how many it does not reach by a wave. */
export interface Comings extends Pick<Reach, 'others'> {
  /** -Infinity for those that run it, or wait for no wave. */
  readonly times: readonly number[];
}

export function comingsOf(release: PublishedVersion, members: readonly Member[]): Comings {
  const others = { above: 0, locked: 0, elsewhere: 0, unknown: 0 };
  const times: number[] = [];
  for (const { runs, settings } of members) {
    const turn: Turn = compareSemver(runs, release.version) >= 0 ? { kind: 'now' } : turnOf(release, settings);
    if (turn.kind === 'now') times.push(-Infinity);
    else if (turn.kind === 'wave') times.push(turn.at);
    else others[turn.kind] += 1;
  }
  return { times: times.toSorted((a, b) => a - b), others };
}

export function reachOf(release: PublishedVersion, members: readonly Member[], now: number): Reach {
  const { times, others } = comingsOf(release, members);
  const later = (time: number | undefined): number | undefined => (time !== undefined && time > now ? time : undefined);
  const half = later(times[Math.ceil(times.length / 2) - 1]);
  const open = times.filter((time) => time <= now).length;
  return { nodes: members.length, now: open, halfBy: half, allBy: later(times.at(-1)), others };
}
