import type { Rule } from './rule.ts';
import { Story } from './story.ts';

/** Fleets whose nodes are in pools, and policies of these. */

export const POOL = 'example.com/pool';
export const ALL = { nodeSelector: {} };
export const MANY = { MAX_CONCURRENT_UPDATE: 'unlimited', MAX_FAILED_UPDATE: 'unlimited', PROOF_NODES: '10' };
export const of = (pool: string): object => ({ nodeSelector: { matchLabels: { [POOL]: pool } } });

/** Nodes t1 and t2 of the pool test, p1 and p2 of production, and n1 of none. */
export function fleet(rule: Rule, controller: object = MANY): Story {
  const story = new Story(rule, { controller }).fleet('t1', 't2', 'p1', 'p2', 'n1');
  for (const name of ['t1', 't2']) story.node(name, { labels: { [POOL]: 'test' } });
  for (const name of ['p1', 'p2']) story.node(name, { labels: { [POOL]: 'production' } });
  return story;
}
