import { isArriving } from '../facts/arriving.ts';
import type { Places } from '../groups/busy.ts';
import type { Dependencies } from '../groups/dependencies.ts';
import type { Group, Groups } from '../groups/groups.ts';
import type { AssessedNode } from '../nodes/health.ts';
import type { EnteredLedgers } from '../releases/entered.ts';
import type { Ledgers } from '../facts/ledgers.ts';
import type { Given } from '../facts/places.ts';
import type { OsRelease } from '../releases/os-release.ts';
import type { Rulings } from '../facts/rulings.ts';
import type { Settings, ShadowView, Snapshot } from '../facts/snapshot.ts';
import type { Finding, Stop } from '../facts/verdict.ts';
import type { Withheld } from './withheld.ts';

/** What the gates look at besides the node itself. */
export interface World {
  readonly snapshot: Snapshot;
  readonly settings: Settings;
  readonly rulings: Pick<Rulings, 'unknown'>;
  /** Why nothing new is disturbed, where too many nodes are not Ready. */
  readonly unhealthy: Finding | undefined;
  readonly groups: Groups;
  readonly dependencies: Dependencies;
  readonly ledgers: Ledgers;
  readonly entered: EnteredLedgers;
  /** A start that the API server refuses takes no permit, so that another node gets it meanwhile. */
  readonly withheld: Withheld;
  /** Who is busy, and what this plan gives on top of that. */
  readonly places: Places;
  readonly given: Given;
  readonly now: number;
}

/** What the cluster is like, and which policy rules a node. Where it is not, what is wanted of nodes stays as it is. */
export const isKnown = ({ snapshot, rulings }: Pick<World, 'snapshot' | 'rulings'>): boolean =>
  snapshot.notCurrent === undefined && rulings.unknown === undefined;

/** A node with an update to start, or one that has staged it, with all that it is counted with. */
export interface Asking {
  readonly info: AssessedNode;
  readonly shadow: ShadowView;
  /** Undefined where a write of our own may have changed it. */
  readonly version: string | undefined;
  /** Undefined where several policies claim the node. */
  readonly group: Group | undefined;
  readonly release: OsRelease | undefined;
  /** It has failed on the version before. Such a node may always try again: its recovery shows that the release is sound. */
  readonly isRetry: boolean;
  /** It has just joined, and nobody's pods run on it: no budget counts it, and it takes only what is proven. */
  readonly isArriving: boolean;
}

/**
 * What becomes of a node that has a permit and is not disturbed yet: `call-off` ends its update, `wait` leaves it where it is unless a later gate
 * calls it off. `unknown` leaves it there too, and what later gates say is not known.
 */
export type Again = Stop['kind'] | 'unknown';

export function askingOf(
  info: AssessedNode,
  { shadow, version }: Pick<Asking, 'shadow' | 'version'>,
  { groups, settings, now }: Pick<World, 'groups' | 'settings' | 'now'>,
): Asking {
  const group = groups.of(info);
  const release = version === undefined ? undefined : group?.releases.of(info.node.family, version);
  const isRetry = release?.book.failed.has(info.node.uid) === true;
  return { info, shadow, version, group, release, isRetry, isArriving: isArriving(info.node, settings, now) };
}

/** An update that has begun, to the version that its spec names. */
export const underWayOf = (
  info: AssessedNode,
  shadow: ShadowView,
  world: Pick<World, 'groups' | 'settings' | 'now'>,
): Asking => askingOf(info, { shadow, version: shadow.spec.version ?? undefined }, world);
