import { instantOf } from '../../lib/clock.ts';
import { compareSemver } from '../../shadow/semver.ts';
import type { AssessedNode } from './health.ts';
import { failureBudget, type Quantity } from '../../policy/quantity.ts';
import { isActive, isIdle, type NodeView, type ShadowView } from './snapshot.ts';

/** How a version does on the hosts that it is made for. */
export interface OsRelease {
  /** UIDs of the nodes that failed on it, as far as the release is to blame. */
  readonly failed: ReadonlySet<string>;
  /** Nodes that may fail on it yet before it is halted; a node that has failed on it before counts once. */
  readonly failuresLeft: number;
  /** A node that runs it is at rest and Ready, and its agent lives. */
  readonly proven: boolean;
  /** Nodes on their way to it, for all that is known, that have not failed on it. */
  readonly inFlight: number;
}

export interface OsReleaseName {
  readonly family: string;
  readonly version: string;
}

/** A version that failed too often. */
export interface Halted extends OsReleaseName {
  /** Whose nodes failed on it; absent for those that the controller's variables rule. */
  readonly policy?: string;
  /** Nodes that failed on it. */
  readonly failures: number;
}

/** How all OS releases do. This is counted from the shadows for each plan, and nothing is remembered. */
export class OsReleases {
  readonly #families = new Map<string, Family>();
  readonly #maxFailed: Quantity;

  /** @param managed nodes of the fleet */
  constructor(managed: readonly AssessedNode[], maxFailed: Quantity) {
    this.#maxFailed = maxFailed;
    for (const info of managed) this.#count(info);
  }

  of(family: string, version: string): OsRelease {
    const found = this.#families.get(family);
    return found?.tallies.get(version) ?? new Tally(found ?? new Family(this.#maxFailed));
  }

  /** The longest that a last update took on a node of the family, milliseconds; 0 where none is known. */
  longestUpdateMs(family: string): number {
    return this.#families.get(family)?.longestMs ?? 0;
  }

  /** By family, the newest version that any of its hosts runs or is offered. */
  newest(): ReadonlyMap<string, string> {
    const newest = new Map<string, string>();
    for (const [name, { tallies }] of this.#families) {
      const known = [...tallies].filter(([, { onHosts }]) => onHosts).map(([version]) => version);
      if (known.length > 0) newest.set(name, known.reduce(newerOf));
    }
    return newest;
  }

  /** Versions that nodes wait for. */
  offered(): readonly OsReleaseName[] {
    return this.#wanted().map(({ family, version }) => ({ family, version }));
  }

  /** Versions that nodes wait for and that no further node may start on. */
  halted(): readonly Halted[] {
    return this.#wanted()
      .filter(({ tally }) => tally.failuresLeft <= 0)
      .map(({ family, version, tally }) => ({ family, version, failures: tally.failed.size }));
  }

  /** The node is on its way to the version. */
  begin({ family, uid }: NodeView, version: string): void {
    this.#family(family).tally(version).begin(uid);
  }

  #count(info: AssessedNode): void {
    const { node, shadow, health } = info;
    const family = this.#family(node.family);
    family.members += 1;
    if (!shadow?.status) return;
    family.longestMs = Math.max(family.longestMs, shadow.lastUpdateMs ?? 0);
    const { current_version: current, target_version: target } = shadow.status;
    const running = family.tally(current);
    running.onHosts = true;
    if (isProof(info, shadow)) running.proven = true;
    if (current !== target) family.tally(target).want();
    for (const version of failedOn(shadow, health)) family.tally(version).failed.add(node.uid);
    if (isInDoubt(info, shadow)) family.inDoubt.add(node.uid);
    else if (isActive(shadow) && shadow.spec.version != null) family.tally(shadow.spec.version).begin(node.uid);
  }

  #family(name: string): Family {
    const known = this.#families.get(name);
    if (known) return known;
    const family = new Family(this.#maxFailed);
    this.#families.set(name, family);
    return family;
  }

  #wanted(): (OsReleaseName & { readonly tally: Tally })[] {
    return [...this.#families].flatMap(([family, { tallies }]) =>
      [...tallies].filter(([, { wanted }]) => wanted).map(([version, tally]) => ({ family, version, tally })),
    );
  }
}

/** Hosts of one variant and architecture. */
class Family {
  members = 0;
  longestMs = 0;
  /** UIDs of nodes that are on their way to nobody knows which version. */
  readonly inDoubt = new Set<string>();
  readonly tallies = new Map<string, Tally>();
  readonly #maxFailed: Quantity;

  constructor(maxFailed: Quantity) {
    this.#maxFailed = maxFailed;
  }

  get failureBudget(): number {
    return failureBudget(this.#maxFailed, this.members);
  }

  tally(version: string): Tally {
    const known = this.tallies.get(version);
    if (known) return known;
    const tally = new Tally(this);
    this.tallies.set(version, tally);
    return tally;
  }
}

class Tally implements OsRelease {
  readonly failed = new Set<string>();
  proven = false;
  /** A node waits for it. */
  wanted = false;
  /** A host runs it, or is offered it. */
  onHosts = false;
  readonly #family: Family;
  #begun = 0;

  constructor(family: Family) {
    this.#family = family;
  }

  get inFlight(): number {
    const { inDoubt } = this.#family;
    const failedInDoubt = inDoubt.size === 0 ? 0 : [...this.failed].filter((uid) => inDoubt.has(uid)).length;
    return this.#begun + inDoubt.size - failedInDoubt;
  }

  get failuresLeft(): number {
    return this.#family.failureBudget - this.failed.size;
  }

  want(): void {
    this.wanted = true;
    this.onHosts = true;
  }

  begin(uid: string): void {
    if (!this.failed.has(uid)) this.#begun += 1;
  }
}

function isProof({ node, silentSince }: AssessedNode, shadow: ShadowView): boolean {
  return isIdle(shadow) && node.ready && silentSince === undefined;
}

const NONE: readonly string[] = [];

/** Versions that the node failed on: those on record that it does not run after all, and the one that it fails on right now. */
function failedOn(shadow: ShadowView, { notReturned, soak }: AssessedNode['health']): readonly string[] {
  const current = shadow.status?.current_version;
  const recorded = recordedFailures(shadow);
  const past = recorded.length === 0 ? recorded : recorded.filter((version) => version !== current);
  if (!notReturned && soak !== 'failed') return past;
  const present = notReturned ? shadow.spec.version : current;
  return present == null ? past : [...past, present];
}

function recordedFailures({ spec, status }: ShadowView): readonly string[] {
  const recorded = status?.failed_versions ?? NONE;
  return isFailureUnrecorded(status) && spec.version != null ? [...recorded, spec.version] : recorded;
}

/**
 * Whether the last failure has no record, because an older agent has reported it or the CRD drops the newer fields. It is then blamed on
 * the release. Under an older apiserver the record of an earlier failure stays in the status, with another time. Both times are by the
 * node's clock.
 */
function isFailureUnrecorded(status: ShadowView['status']): boolean {
  if (!status || status.crash_count === 0) return false;
  const { last_failure: recorded, failed_versions: versions } = status;
  if (!recorded) return versions == null;
  const failedAt = instantOf(status.state_transition_failure_timestamp);
  return failedAt !== undefined && (instantOf(recorded.time) ?? failedAt) < failedAt;
}

/**
 * A start may have been written that is not seen yet, perhaps by a leader that knew of a newer offer. Until it is, the node counts as on its
 * way to each version.
 */
function isInDoubt({ slot }: AssessedNode, shadow: ShadowView): boolean {
  return slot !== undefined && (shadow.stale || slot.writes === 'unknown');
}

function newerOf(a: string, b: string): string {
  return compareSemver(a, b) < 0 ? b : a;
}
