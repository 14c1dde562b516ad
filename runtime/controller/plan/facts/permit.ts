import type { BadEnd } from '../../../api/release/model.ts';

/** Whose permit it is. */
export interface PermitKey {
  /** Name of the shadow. */
  readonly shadow: string;
  readonly nodeUid: string;
}

/** What a permit was given for. An older controller drops it: then the permit counts for spec.version, under the policy that rules the node now. */
export interface PermitTerms {
  readonly family?: string | undefined;
  readonly version?: string | undefined;
  /** Under which it was given. Of the controller's variables both are empty. */
  readonly policy?: { readonly name: string; readonly uid: string } | undefined;
  /** Of the node, by the label that its policy names; undefined where it bears none. */
  readonly zone?: string | undefined;
  /** It was given to a machine that had just joined, and ran nobody's pods: budgets do not count it. */
  readonly arriving?: true | undefined;
}

export interface PermitView extends PermitKey, PermitTerms {
  /** Of this attempt: another each time that the permit is taken. */
  readonly id: string;
  /** When its update began; undefined for a permit that an earlier version took. */
  readonly since: number | undefined;
  /** When a controller first saw that a reboot was requested in this attempt; undefined where none has noted that. */
  readonly rebootAskedAt?: number | undefined;
  /** How the attempt has ended, where the ledger of its release could not be written: no restart forgets it. */
  readonly ended?: BadEnd | undefined;
  /**
   * Whether an earlier write to the shadow may still be under way.
   * - `settled`: none can land any more.
   * - `unknown`: one may, so the shadow has to be bumped first.
   * - `gone`: the bump found no shadow.
   */
  readonly writes: 'settled' | 'unknown' | 'gone';
}

/** The API server takes 262,144 bytes of annotations on an object. An eighth is left to others. */
export const LIST_BYTES = 229_376;
const TIME = '2026-01-01T00:00:00.000Z';
/** Of a permit whose texts are empty: every field is counted as if it were filled. */
const EMPTY_PERMIT_BYTES =
  JSON.stringify({
    shadow: '',
    nodeUid: '',
    starts: 9_999_999,
    since: TIME,
    id: '0123456789abcdef',
    family: '',
    version: '',
    policy: { name: '', uid: '' },
    zone: '',
    rebootAskedAt: TIME,
    ended: 'PrepareFailed',
    arriving: true,
  }).length + 1;

/** What a permit takes of the Lease's list at most. Names and labels are ASCII. */
export function bytesOf({ shadow, nodeUid, family, version, policy, zone }: PermitKey & PermitTerms): number {
  const texts = [shadow, nodeUid, family, version, policy?.name, policy?.uid, zone];
  return texts.reduce((sum, text = '') => sum + text.length, EMPTY_PERMIT_BYTES);
}
