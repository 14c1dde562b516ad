import type { Verdict } from '../facts/verdict.ts';
import { aheadOf } from '../gates/hints.ts';
import type { AssessedNode } from '../nodes/health.ts';

/** The verdict with what becomes of the node while it waits. */
export function withMeanwhile(verdict: Verdict, info: AssessedNode): Verdict {
  const ahead = aheadOf(info);
  const said = ahead ? { ...verdict, ahead } : verdict;
  return info.node.bearsWaiting === true ? { ...said, isAvoided: true } : said;
}
