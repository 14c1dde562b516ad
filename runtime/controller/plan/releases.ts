import { instantOf } from '../../lib/clock.ts';
import { type Amount, failureBudget } from './amount.ts';
import type { Health } from './health.ts';
import type { ShadowView } from './snapshot.ts';
import { isActive, isIdle, type Subject } from './subject.ts';

/** How a version does on the hosts that it is made for. */
export interface Release {
  /** UIDs of the nodes that failed on it, as far as the release is to blame. */
  readonly failed: ReadonlySet<string>;
  /** A node that runs it is at rest and Ready, and its agent lives. */
  readonly proven: boolean;
  /** Nodes on their way to it that have not failed on it. */
  readonly inFlight: number;
}

export interface Assessed {
  readonly subject: Subject;
  readonly health: Health;
}

export interface ReleaseName {
  readonly family: string;
  readonly version: string;
}

/** A version that failed too often. */
export interface Halted extends ReleaseName {
  /** Nodes that failed on it. */
  readonly failures: number;
}

interface Tally {
  readonly failed: Set<string>;
  proven: boolean;
  wanted: boolean;
  inFlight: number;
}

interface Family {
  members: number;
  longestMs: number;
  readonly tallies: Map<string, Tally>;
}

/** What all releases together have done so far: counted anew each time from the shadows, nothing is remembered. */
export class Releases {
  readonly #families = new Map<string, Family>();

  /** @param managed nodes of the fleet */
  constructor(managed: readonly Assessed[]) {
    for (const { subject, health } of managed) this.#count(subject, health);
  }

  of(family: string, version: string): Release {
    return this.#tally(family, version);
  }

  /** Managed nodes of the family. */
  members(family: string): number {
    return this.#family(family).members;
  }

  /** The longest that a last update took on a node of the family, milliseconds; 0 where none is known. */
  longestUpdateMs(family: string): number {
    return this.#family(family).longestMs;
  }

  /** Nodes that may fail on the version yet before it is halted; a node that has failed on it before counts once. */
  budgetLeft(family: string, version: string, budget: Amount): number {
    return failureBudget(budget, this.members(family)) - this.of(family, version).failed.size;
  }

  /** Versions that nodes wait for. */
  get offered(): readonly ReleaseName[] {
    return [...this.#families].flatMap(([family, { tallies }]) =>
      [...tallies].filter(([, { wanted }]) => wanted).map(([version]) => ({ family, version })),
    );
  }

  /** Versions that nodes wait for and that no further node may start on. */
  halted(budget: Amount): readonly Halted[] {
    return this.offered
      .filter(({ family, version }) => this.budgetLeft(family, version, budget) <= 0)
      .map(({ family, version }) => ({ family, version, failures: this.of(family, version).failed.size }));
  }

  /** The node is on its way to the version. */
  begin({ family, uid }: Subject['node'], version: string): void {
    const tally = this.#tally(family, version);
    if (!tally.failed.has(uid)) tally.inFlight += 1;
  }

  #count(subject: Subject, health: Health): void {
    const { node, shadow } = subject;
    const family = this.#family(node.family);
    family.members += 1;
    if (!shadow?.status) return;
    family.longestMs = Math.max(family.longestMs, shadow.lastUpdateMs ?? 0);
    const { current_version: current, target_version: target } = shadow.status;
    if (current !== target) this.#tally(node.family, target).wanted = true;
    for (const version of failedOn(shadow, health)) this.#tally(node.family, version).failed.add(node.uid);
    if (isProof(subject)) this.#tally(node.family, current).proven = true;
    const heading = headingFor(subject);
    if (heading !== undefined) this.begin(node, heading);
  }

  #tally(family: string, version: string): Tally {
    const { tallies } = this.#family(family);
    const known = tallies.get(version);
    if (known) return known;
    const tally = { failed: new Set<string>(), proven: false, wanted: false, inFlight: 0 };
    tallies.set(version, tally);
    return tally;
  }

  #family(name: string): Family {
    const known = this.#families.get(name);
    if (known) return known;
    const family = { members: 0, longestMs: 0, tallies: new Map() };
    this.#families.set(name, family);
    return family;
  }
}

function isProof({ node, shadow, silentSince }: Subject): boolean {
  return shadow !== undefined && isIdle(shadow) && node.ready && silentSince === undefined;
}

/** Versions that the node failed on: those on record that it does not run after all, and the one that it fails on right now. */
function failedOn({ spec, status }: ShadowView, { notReturned, soak }: Health): readonly string[] {
  const recorded = [...(status?.failed_versions ?? []), ...(isFailureUnrecorded(status) ? [spec.version] : [])];
  const past = recorded.filter((version) => version !== status?.current_version);
  const present = [...(notReturned ? [spec.version] : []), ...(soak === 'failed' ? [status?.current_version] : [])];
  return [...past, ...present].filter((version) => version != null);
}

/**
 * The last failure was an older agent's, or the CRD drops the newer fields: it is then put down to the release. Under an older apiserver the
 * record of an earlier failure stays in the status, and is of another time. Both times are of the node's clock.
 */
function isFailureUnrecorded(status: ShadowView['status']): boolean {
  if (!status || status.crash_count === 0) return false;
  const { last_failure: recorded, failed_versions: versions } = status;
  if (!recorded) return versions == null;
  const failedAt = instantOf(status.state_transition_failure_timestamp);
  return failedAt !== undefined && (instantOf(recorded.time) ?? failedAt) < failedAt;
}

/** A start that may have been written without having been seen leads to what was offered. */
function headingFor({ shadow, slot }: Subject): string | undefined {
  if (!shadow?.status) return undefined;
  if (isActive(shadow)) return shadow.spec.version ?? undefined;
  return slot && (shadow.stale || slot.writes === 'unknown') ? shadow.status.target_version : undefined;
}
