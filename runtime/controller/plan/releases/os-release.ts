import type { UpdatePolicy } from '../../../api/policy/policy.ts';
import type { Failure } from '../../../api/release/model.ts';
import type { Book } from './books.ts';
import type { OsReleaseName } from '../facts/ledgers.ts';
import type { NodeView } from '../facts/snapshot.ts';
import type { Finding } from '../facts/verdict.ts';
import type { WhyHalted } from './halted.ts';
import type { Proof } from './proof.ts';
import type { ProvingRules } from './proving.ts';

/** A release, and whose nodes it is about. */
export interface ReleaseUnderPolicy extends OsReleaseName {
  /** Absent for the nodes that the controller's variables rule. */
  readonly policy?: string;
}

/** A version that no further node may start on. */
export interface Halted extends ReleaseUnderPolicy, WhyHalted {
  /** Nodes that failed on it, under all policies together where `because` says so. */
  readonly failures: number;
  /** Those of them that are known, and its own checks, by name. */
  readonly failed: readonly FailedNode[];
  /** How many may fail, where that halts it. */
  readonly mayFail?: number;
}

interface FailedNode extends Pick<Failure, 'node' | 'reason' | 'at'> {
  /** The version that it runs now; absent where it is gone. */
  readonly runs?: string | undefined;
}

/** How a policy has releases proven, and where it is read how they did. */
export interface ReleaseRules extends ProvingRules, Pick<UpdatePolicy, 'rollsBack' | 'version'> {
  readonly bookOf: (release: OsReleaseName) => Book;
}

/** How a version does on the nodes of one family that one policy rules. */
export interface OsRelease extends OsReleaseName {
  readonly proof: Proof;
  readonly book: Book;
  /** No further node starts on it, besides those that have an entry. */
  readonly isHalted: boolean;
  /** The same, or as many have failed over all policies as may though none has halted it. */
  readonly isStopped: boolean;
  /** Nodes go back from it: people say so, or its failures have halted it. A policy that names a version has decided the latter already. */
  readonly isLeft: boolean;
  /** When the last update to it was finished; -Infinity where that is not known. */
  readonly finishedAt: number;
  /** Updates from an older version have ended on it, whoever went back to it besides. */
  readonly isReached: boolean;
  /** Nodes wait for it. */
  readonly wanted: boolean;
  /** Nodes are offered it, be they those that run it. */
  readonly isOffered: boolean;
  /** Nodes are on their way to it. */
  readonly isUnderWay: boolean;
  /** Nodes are known to be on their way to it: those whose version is in doubt do not count. */
  readonly hasBegun: boolean;
  /** Names of the nodes that run it or are on their way to it: who can prove it. */
  readonly canaries: readonly string[];
  /**
   * When it is complete, if all stays as it is: milliseconds since the Unix epoch. It is complete when it is proven and not halted, one runs it, no other
   * policy claims nodes of the family, no node waits for it and none is on its way to it.
   * - Nodes that are held, leaving, not Ready, silent, or whose last update failed do not count as waiting.
   * - Lost nodes do not count as on their way.
   */
  readonly completeAt: number;
  /** Why a node does not start on it, or is not disturbed for it, while others have to prove it first, or until people make that possible. */
  unprovenTo(node: NodeView): Finding;
  /** Why no more nodes start on it at once, or are disturbed for it, though it is proven. */
  readonly widening: Finding;
}

/** What is known of the nodes of a family. */
export interface FamilyCounts {
  readonly members: number;
  /** Other policies claim nodes of the family as well: what becomes of these is not known. */
  readonly isContested: boolean;
}
