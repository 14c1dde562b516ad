import { ARRIVING_KEY } from '../../../api/marks/taints.ts';
import { taintSign, taintSigns } from '../../../api/policy/signs.ts';
import { MINUTE_MS } from '../../../lib/clock.ts';
import type { NodeInfo, NodeView, Settings } from './snapshot.ts';

/** A machine that joins with the taint `arriving` keeps pods away for so long at most, from when its Node was made, whatever happens. */
const ARRIVES_MS = 10 * MINUTE_MS;

type Named = Pick<Settings, 'arrivingTaint'>;

export interface At extends Named {
  readonly now: number;
}

type Tainted = Pick<NodeView, 'signs' | 'createdAt'>;

/** The keys that say so: where the setting is another, our own is from before. */
export const arrivingKeys = ({ arrivingTaint }: Named): readonly string[] => [arrivingTaint, ARRIVING_KEY];

export const arrivingKeyOn = ({ signs }: Pick<Tainted, 'signs'>, settings: Named): string | undefined =>
  signs && arrivingKeys(settings).find((key) => taintSigns(key).some((sign) => signs.includes(sign)));

export const bearsArriving = (node: Tainted, settings: Named): boolean => arrivingKeyOn(node, settings) !== undefined;

export const arrivesUntil = ({ createdAt }: Tainted): number => createdAt + ARRIVES_MS;

/** Nobody's pods run on it yet: its taint keeps them away. @param now milliseconds since the Unix epoch */
export function isArriving(node: Tainted, settings: Named, now: number): boolean {
  const { signs } = node;
  return signs !== undefined && isKept(signs, settings) && now < arrivesUntil(node);
}

const isKept = (signs: readonly string[], settings: Named): boolean =>
  arrivingKeys(settings).some((key) => signs.includes(taintSign(key)));

/** Its update was begun as it arrived, and no pod has come since: no budget counts it. Marks do not say so: its drain may have waited until pods had come. */
export const isSpared = ({ node, permit }: Pick<NodeInfo, 'node' | 'permit'>, at: At): boolean =>
  permit?.arriving === true && isArriving(node, at, at.now);
