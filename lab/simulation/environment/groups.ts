import { POOL, POOLS, ZONE, ZONES } from '../policies.ts';
import { chance, oneOf } from './chance.ts';

/** The labels by which policies select a machine's Node; what replaces a machine has the same. Some nodes have none of them. */
export function groupLabels(seed: number, node: string): Readonly<Record<string, string>> {
  const random = chance(seed, `environment/groups/${node}`);
  return {
    ...(random() < 0.9 && { [ZONE]: oneOf(random, ZONES) }),
    ...(random() < 0.85 && { [POOL]: oneOf(random, POOLS) }),
  };
}
