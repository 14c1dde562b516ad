import { DAY_MS, HOUR_MS } from '../../../lib/clock.ts';
import { decidedBy } from '../../../api/release/decided.ts';
import { strictest } from '../../../api/release/ledger.ts';
import type { Decision } from '../../../api/release/model.ts';
import { ANY_FAMILY, isMeant, releaseObjectName } from '../../../api/release/names.ts';
import type { CheckStates } from './checks.ts';
import type { Ruling } from './rulings.ts';
import type { ReleaseView, Snapshot } from './snapshot.ts';
import { type Finding, found } from './verdict.ts';

export interface OsReleaseName {
  readonly family: string;
  readonly version: string;
}

export const keyOf = ({ family, version }: OsReleaseName): string => `${family} ${version}`;

/** The ledgers of a snapshot. */
export class Ledgers {
  readonly #own = new Map<string, ReleaseView>();
  /** Whoever has made them, by what they are about. */
  readonly #all = new Map<string, ReleaseView[]>();
  readonly #refused: ReadonlyMap<string, string>;

  constructor({ objects, refused }: Snapshot['releases']) {
    this.#refused = refused;
    for (const view of objects) {
      const key = keyOf(view);
      if (view.name === releaseObjectName(view)) this.#own.set(key, view);
      this.#all.set(key, [...(this.#all.get(key) ?? []), view]);
    }
  }

  get own(): Iterable<ReleaseView> {
    return this.#own.values();
  }

  /** That the controller keeps; undefined where there is none yet. */
  of(release: OsReleaseName): ReleaseView | undefined {
    return this.#own.get(keyOf(release));
  }

  /** What people have decided. */
  decisionOn(release: OsReleaseName): Decision {
    return strictest(this.#about(release).map(({ decision }) => decision));
  }

  /** What they have decided, as it is shown. */
  decidedOn(release: OsReleaseName): Decision {
    return strictest(this.#about(release).map((one) => decidedBy(one)));
  }

  /** Whether its own object is a person's too: it bears what somebody has said, or is about all families. */
  isOfPeople(release: OsReleaseName): boolean {
    const { approvedFor = [], provenIn = [], rollbackFor = [], expediteFor = [] } = this.of(release) ?? {};
    return (
      release.family === ANY_FAMILY || [approvedFor, provenIn, rollbackFor, expediteFor].some((all) => all.length > 0)
    );
  }

  isApproved(release: OsReleaseName, policy: string): boolean {
    return this.#about(release).some(({ approvedFor }) => approvedFor?.includes(policy));
  }

  /** @param policy empty = the variables */
  isRolledBack(release: OsReleaseName, policy: string): boolean {
    return this.#about(release).some(({ rollbackFor }) => isMeant(rollbackFor, policy));
  }

  /** People have it start ahead of its time. @param policy empty = the variables */
  isExpedited(release: OsReleaseName, policy: string): boolean {
    return this.#about(release).some(({ expediteFor }) => isMeant(expediteFor, policy));
  }

  /** Somebody has said so. */
  isProvenIn(release: OsReleaseName, place: string): boolean {
    return this.#about(release).some(({ provenIn }) => provenIn?.includes(place));
  }

  #about({ family, version }: OsReleaseName): readonly ReleaseView[] {
    return [family, ANY_FAMILY].flatMap((one) => this.#all.get(keyOf({ family: one, version })) ?? []);
  }

  /** Whether some are being made: what is said of their nodes meanwhile is over within a moment, and not worth a write each. */
  awaits(writes: readonly { readonly name: string; readonly seen: ReleaseView | undefined }[]): boolean {
    return writes.some(({ name, seen }) => !seen && !this.#refused.has(name));
  }

  /** For how long after an update to it what becomes of the node is put down to it: until it is proven, but an hour at least and a day at most. */
  probationMs(release: OsReleaseName, { policy }: Pick<Ruling, 'policy'>): number {
    return this.of(release)?.ledger.policies[policy?.name ?? '']?.provenAt == null ? DAY_MS : HOUR_MS;
  }

  /** How the checks of a policy go on it, as the API server has it. */
  checksUnder(policy: string, release: OsReleaseName): CheckStates {
    return this.of(release)?.ledger.policies[policy]?.checks ?? {};
  }

  /** Why it cannot be written, as a sentence. */
  refusalOf(release: OsReleaseName): string | undefined {
    const refused = this.#refused.size === 0 ? undefined : this.#refused.get(releaseObjectName(release));
    return refused === undefined ? undefined : `${release.version}: ${refused}`;
  }

  /** Why nothing starts on it: what becomes of it could not be remembered. */
  unkept(release: OsReleaseName): Finding | undefined {
    const refused = this.refusalOf(release);
    if (refused !== undefined) return found('WriteRefused', refused);
    return this.of(release) ? undefined : found('WaitingForSlot', `the ledger of ${release.version} is being made`);
  }
}
