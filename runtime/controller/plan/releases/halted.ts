import { byWhom } from '../../../api/shadow/asked.ts';
import type { Decided } from '../../../api/release/model.ts';

/** Why no further node starts on a release. */
export interface WhyHalted {
  readonly because: keyof typeof WORDS;
  /** Who has decided so, in that person's words; absent where nobody has, or that is not known. */
  readonly decided?: Decided | undefined;
}

const WORDS = {
  Rollback: 'people take nodes back from',
  People: 'people have halted',
  Check: 'a check of its policy failed on',
  Nodes: 'too many nodes failed on',
  NodesOfAllPolicies: 'too many nodes of all policies together failed on',
} as const;

/** The same words wherever people read it, and for as long as it is so. @param what the version, or `it` */
export const haltedBecause = ({ because, decided }: WhyHalted, what: string): string =>
  `${WORDS[because]} ${what}${byWhom(decided)}`;
