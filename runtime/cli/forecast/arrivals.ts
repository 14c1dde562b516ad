import type { Snapshot } from '../../controller/plan/facts/snapshot.ts';
import type { Status } from '../../api/shadow/model.ts';
import { compareSemver } from '../../api/shadow/semver.ts';
import { MINUTE_MS } from '../../lib/clock.ts';
import { getOrInsert } from '../../lib/maps.ts';
import { type PublishedVersion, turnOf } from '../waves/turns.ts';
import { publishedIn } from '../waves/waves.ts';
import type { Pair } from './crowd.ts';

/** A version that a wave brings to a node. */
export interface Arrival {
  /** When its wave opens, milliseconds since the Unix epoch. */
  readonly at: number;
  /** Name of the shadow. */
  readonly shadow: string;
  readonly version: string;
}

/** Agents ask their hosts every few minutes: what is not offered this long after its wave has another reason. */
const UNSEEN_MS = 10 * MINUTE_MS;

/** What waves are still to bring, the earliest first. */
export function arrivalsIn(
  snapshot: Pick<Snapshot, 'nodes' | 'shadows' | 'releases'>,
  now: number,
): readonly Arrival[] {
  const listed = new Map<string, readonly PublishedVersion[]>();
  const shadows = new Map(snapshot.shadows.map((shadow) => [shadow.name, shadow]));
  const found = snapshot.nodes.flatMap(({ family, shadowName: shadow }) => {
    const status = shadows.get(shadow)?.status;
    if (!status) return [];
    return getOrInsert(listed, family, () => publishedIn(snapshot, family)).flatMap((release): readonly Arrival[] => {
      const { version } = release;
      if (!isNewer(version, status)) return [];
      const turn = turnOf(release, status.update_settings);
      return turn.kind === 'wave' && turn.at > now - UNSEEN_MS ? [{ at: turn.at, shadow, version }] : [];
    });
  });
  return found.toSorted((a, b) => a.at - b.at);
}

/** Whether a version is newer than what a node runs and is offered. */
const isNewer = (version: string, { current_version: runs, target_version: offered }: Status): boolean =>
  [runs, offered].every((known) => compareSemver(version, known) > 0);

/** What waves are still to bring. What comes to a node while it is being updated waits for the end of that. */
export class Arrivals {
  /** The next one last. */
  readonly #ahead: Arrival[];
  #late: readonly Arrival[] = [];

  /** @param arrivals the earliest first */
  constructor(arrivals: readonly Arrival[]) {
    this.#ahead = arrivals.toReversed();
  }

  /** When the next wave opens; Infinity where none is to come. */
  get next(): number {
    return this.#ahead.at(-1)?.at ?? Infinity;
  }

  /** What has come by now. @param isBusy whether the node of a shadow is being updated */
  take(now: number, isBusy: (shadow: string) => boolean): readonly Arrival[] {
    const come = [...this.#late];
    while (this.next <= now) come.push(...this.#ahead.splice(-1));
    this.#late = come.filter(({ shadow }) => isBusy(shadow));
    return come.filter(({ shadow }) => !isBusy(shadow));
  }
}

/** The pair once its host offers a version. */
export function withOffer({ node, shadow }: Pair, version: string, now: number): Pair {
  const { status } = shadow;
  if (!status || !isNewer(version, status)) return { node, shadow };
  return { node, shadow: { ...shadow, status: { ...status, target_version: version }, offeredAt: now } };
}
