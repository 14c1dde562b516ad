import type { Instant } from '../types.ts';
import { isController, isOperator } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule } from './rule.ts';
import { isLocked } from './seen-locks.ts';
import { type SeenNode, takesPods } from './seen-node.ts';

/** Once nothing goes wrong any more, what an update leaves is gone so soon after it is over, milliseconds. */
const REST_WITHIN = 900_000;

/** Nobody decides where no controller runs, and each node is cordoned or not Ready, so that none takes its pod. */
export function isDeserted({ nodes, processes }: Picture): boolean {
  for (const node of nodes.values()) if (takesPods(node)) return false;
  return ![...processes].some(([name, { runs }]) => runs && isController(name));
}

/** M6, M8, L3, B4: of a node at rest, or gone, nothing of ours is left. */
export const atRest: Rule = {
  name: 'at-rest',
  begin(picture) {
    const since = new Map<string, Instant>();
    const told = new Set<string>();
    let known = -1;
    const look = (now: Instant): void => {
      if (picture.calmAt === undefined || picture.standing === known) return;
      known = picture.standing;
      const found = new Set(isDeserted(picture) ? NOTHING : leftIn(picture));
      for (const one of since.keys()) if (!found.has(one)) since.delete(one);
      for (const one of found) if (!since.has(one)) since.set(one, now);
    };
    const late = (now: Instant): readonly string[] => {
      const all = [...since].filter(([one, from]) => now - from > REST_WITHIN && !told.has(one));
      for (const [one] of all) told.add(one);
      return all.map(([one]) => one);
    };
    return {
      see({ at }) {
        look(at);
        return since.size === 0 ? NOTHING : late(at);
      },
      isMet: () => since.size === 0,
      end: late,
    };
  },
};

function leftIn(picture: Picture): readonly string[] {
  const nodes = [...picture.nodes.values()];
  return [...nodes.flatMap((node) => leftOn(picture, node)), ...permits(picture, nodes), ...shadows(picture)];
}

/** A cordon is told with its author: who lifts it and cordons again begins anew. */
function leftOn(picture: Picture, node: SeenNode): readonly string[] {
  const { facts, cordon } = node;
  const shadow = picture.shadowOf(facts);
  const isAtRest = shadow ? shadow.status !== undefined && !shadow.active : !picture.agentOf(facts.name).runs;
  if (!isAtRest) return NOTHING;
  if (facts.marks) return [`${facts.name} is at rest and bears marks`];
  return isForgotten(node) ? [`${facts.name} is at rest without marks, and cordoned by ${cordon?.by}`] : NOTHING;
}

/** A person who holds a node, or has changed its marks since it was cordoned, cares for its cordon. */
function isForgotten({ facts, cordon, robbedAt }: SeenNode): boolean {
  return cordon !== undefined && isOperator(cordon.by) && robbedAt < cordon.at && !facts.held;
}

function permits(picture: Picture, nodes: readonly SeenNode[]): readonly string[] {
  return picture.lease.permits.flatMap(({ nodeUid, shadow }) => {
    const node = nodes.find(({ facts }) => facts.uid === nodeUid);
    if (!node) return [`the permit of ${shadow} is that of a node which is gone`];
    const owned = picture.shadowOf(node.facts);
    const isFree = owned?.status && !owned.active && !node.facts.marks;
    return isFree ? [`${node.facts.name} is at rest and has a permit`] : [];
  });
}

/** A shadow that somebody has taken from its owner is nobody's to delete. */
function shadows({ shadows: all, nodes }: Picture): readonly string[] {
  return [...all.values()].flatMap(({ name, node, owners }) => {
    const facts = nodes.get(node)?.facts;
    const isOwned = facts?.managed === true && owners.includes(facts.uid);
    return owners.length === 0 || isOwned ? [] : [`${name} is the shadow of no managed node`];
  });
}

/**
 * How a node stands whose host is locked still; `wrong` where it is not. Nobody unlocks one that is kept as it is, or of which nobody knows that it
 * was the agent.
 */
export function lockedAs(
  { locks, rulings }: Picture,
  facts: SeenNode['facts'],
  wrong: string,
): 'kept' | 'going' | { readonly wrong: string } {
  if (!isLocked(locks.of(facts.name))) return { wrong };
  return facts.held || locks.isLost(facts.name) || rulings.groupOf(facts)?.paused !== false ? 'kept' : 'going';
}
