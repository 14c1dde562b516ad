import { DAY_MS, HOUR_MS } from '../../../lib/clock.ts';
import { decidedBy, isRolledBack } from '../../../api/release/decided.ts';
import { strictest } from '../../../api/release/ledger.ts';
import type { Decided, Decision } from '../../../api/release/model.ts';
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

/** What people say of a release to the nodes of one policy. */
export interface ReleaseDecisions {
  readonly decision: Decision;
  /** They have the nodes go back from it. */
  readonly isRolledBack: boolean;
  /** They have it start ahead of its time. */
  readonly isExpedited: boolean;
  /** Who has decided that no node starts on it; undefined where nobody has, or that is not known. */
  readonly haltedBy: Decided | undefined;
}

/** The ledgers of a snapshot. */
export class Ledgers {
  readonly #own = new Map<string, ReleaseView>();
  /** The controller's and people's, by release. */
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

  /** The ledger that the controller keeps of the release; undefined where there is none yet. */
  of(release: OsReleaseName): ReleaseView | undefined {
    return this.#own.get(keyOf(release));
  }

  /** What people say of the release, in whichever object. @param policy empty = the variables */
  decisionsOn(release: OsReleaseName, policy: string): ReleaseDecisions {
    const about = this.#about(release);
    const back = about.filter(({ rollbackFor }) => isMeant(rollbackFor, policy));
    // Of an object that takes back the nodes of other policies, it is known who has decided that alone.
    const halting = about.filter((one) => one.decision === 'Halt' && !isRolledBack(one));
    return {
      decision: strictest(about.map(({ decision }) => decision)),
      isRolledBack: back.length > 0,
      isExpedited: about.some(({ expediteFor }) => isMeant(expediteFor, policy)),
      haltedBy: (back.length > 0 ? back : halting).find(({ decided }) => decided)?.decided,
    };
  }

  /** The same for the screen. */
  decidedOn(release: OsReleaseName): Decision {
    return strictest(this.#about(release).map((one) => decidedBy(one)));
  }

  /** Whether the object of this name is a person's, too, and must not be deleted: it has a decision in it, or is about all families. */
  isOfPeople(release: OsReleaseName): boolean {
    const { approvedFor = [], provenIn = [], rollbackFor = [], expediteFor = [] } = this.of(release) ?? {};
    return (
      release.family === ANY_FAMILY || [approvedFor, provenIn, rollbackFor, expediteFor].some((all) => all.length > 0)
    );
  }

  isApproved(release: OsReleaseName, policy: string): boolean {
    return this.#about(release).some(({ approvedFor }) => approvedFor?.includes(policy));
  }

  /** Somebody has named the place, outside of this cluster, in `provenIn`. */
  isProvenIn(release: OsReleaseName, place: string): boolean {
    return this.#about(release).some(({ provenIn }) => provenIn?.includes(place));
  }

  #about({ family, version }: OsReleaseName): readonly ReleaseView[] {
    return [family, ANY_FAMILY].flatMap((one) => this.#all.get(keyOf({ family: one, version })) ?? []);
  }

  /** Whether ledgers are being made. The verdicts that wait for them change within a moment, so their conditions are not written. */
  awaits(writes: readonly { readonly name: string; readonly seen: ReleaseView | undefined }[]): boolean {
    return writes.some(({ name, seen }) => !seen && !this.#refused.has(name));
  }

  /** For how long after its update a node's trouble is blamed on the release: an hour once the release is proven, a day before. */
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

  /** Why nothing starts on the release: there is nowhere to record a failure. */
  unkept(release: OsReleaseName): Finding | undefined {
    const refused = this.refusalOf(release);
    if (refused !== undefined) return found('WriteRefused', refused);
    return this.of(release) ? undefined : found('WaitingForSlot', `the ledger of ${release.version} is being made`);
  }
}
