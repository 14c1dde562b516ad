import { taintSign } from '../../../api/policy/signs.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { NodeInfo, NodeView, Settings } from './snapshot.ts';

/** A machine that joins with the taint `arriving` keeps pods away for so long at most, from when its Node was made, whatever happens. */
const ARRIVES_MS = 10 * MINUTE_MS;

export interface At extends Pick<Settings, 'arrivingTaint'> {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

type Tainted = Pick<NodeView, 'signs' | 'createdAt'>;

export const bearsArriving = ({ signs }: Tainted, { arrivingTaint }: Pick<Settings, 'arrivingTaint'>): boolean =>
  signs?.includes(taintSign(arrivingTaint)) === true;

export const arrivesUntil = ({ createdAt }: Tainted): number => createdAt + ARRIVES_MS;

/** Nobody's pods run on it yet. */
export const isArriving = (node: Tainted, at: At): boolean => bearsArriving(node, at) && at.now < arrivesUntil(node);

/** Its update was begun as it arrived, and no pod has come since: no budget counts it. */
export const isSpared = ({ node, permit }: Pick<NodeInfo, 'node' | 'permit'>, at: At): boolean =>
  permit?.arriving === true && (isArriving(node, at) || node.marks !== undefined);
