import type { Instant } from '../types.ts';
import { isController, isOperator } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type RuleJudge } from './rule.ts';
import { type SeenNode, takesPods } from './seen-node.ts';

/** Once nothing goes wrong any more, what an update leaves is gone so soon after it is over, milliseconds. */
export const REST_WITHIN = 900_000;

/** Nobody decides where no controller runs, and each node is cordoned or not Ready, so that none takes its pod. */
export function isDeserted({ nodes, processes }: Picture): boolean {
  for (const node of nodes.values()) if (takesPods(node)) return false;
  return ![...processes].some(([name, { runs }]) => runs && isController(name));
}

/** A judge of what stands for too long in the calm. `find` names what there should not be. */
function standing(picture: Picture, find: () => readonly string[]): RuleJudge {
  const since = new Map<string, Instant>();
  let known = -1;
  const look = (now: Instant): void => {
    if (picture.calmAt === undefined || picture.standing === known) return;
    known = picture.standing;
    const found = new Set(isDeserted(picture) ? NOTHING : find());
    for (const one of since.keys()) if (!found.has(one)) since.delete(one);
    for (const one of found) if (!since.has(one)) since.set(one, now);
  };
  const late = (now: Instant): string[] =>
    [...since].filter(([, from]) => now - from > REST_WITHIN).map(([one]) => one);
  const told = new Set<string>();
  return {
    see({ at }) {
      look(at);
      const news = since.size === 0 ? NOTHING : late(at).filter((one) => !told.has(one));
      for (const one of news) told.add(one);
      return news;
    },
    isMet: () => since.size === 0,
    end(now) {
      return late(now).filter((one) => !told.has(one));
    },
  };
}

/** M6, M8. */
export const marksAtRest: Rule = {
  name: 'marks-at-rest',
  begin: (picture) =>
    standing(picture, () =>
      [...picture.nodes.values()]
        .filter((node) => node.facts.marks && isAtRest(picture, node))
        .map(({ facts: { name } }) => `${name} is at rest and bears marks`),
    ),
};

/** Its shadow says so, or it has neither a shadow nor an agent that could go on. */
function isAtRest(picture: Picture, { facts }: SeenNode): boolean {
  const shadow = picture.shadowOf(facts);
  return shadow ? shadow.status !== undefined && !shadow.active : !picture.agentOf(facts.name).runs;
}

/** M1, M6: what is ours says so, or nobody would ever lift it. Each is told with its author: who lifts it and cordons again begins anew. */
export const cordonsAtRest: Rule = {
  name: 'cordons-at-rest',
  begin: (picture) =>
    standing(picture, () =>
      [...picture.nodes.values()].flatMap((node) =>
        isForgotten(node) && isAtRest(picture, node)
          ? [`${node.facts.name} is at rest without marks, and cordoned by ${node.cordon?.by}`]
          : [],
      ),
    ),
};

/** Whoever holds a node, or has changed its marks since it is cordoned, has said that he sees to it. */
function isForgotten({ facts, cordon, robbedAt }: SeenNode): boolean {
  if (!cordon || !isOperator(cordon.by) || robbedAt >= cordon.at) return false;
  return !facts.marks && !facts.held;
}

/** L3. */
export const slotsAtRest: Rule = {
  name: 'slots-at-rest',
  begin: (picture) =>
    standing(picture, () => {
      const names = new Map([...picture.nodes.values()].map(({ facts }) => [facts.uid, facts] as const));
      return picture.lease.slots.flatMap(({ nodeUid, shadow }) => {
        const facts = names.get(nodeUid);
        if (!facts) return [`the slot of ${shadow} is that of a node which is gone`];
        const owned = picture.shadowOf(facts);
        return owned?.status && !owned.active && !facts.marks ? [`${facts.name} is at rest and has a slot`] : [];
      });
    }),
};

/** M8, B4. A shadow that somebody has taken from its owner is nobody's to delete. */
export const shadowsOfNodes: Rule = {
  name: 'shadows-of-nodes',
  begin: (picture) =>
    standing(picture, () =>
      [...picture.shadows.values()]
        .filter(({ owners }) => owners.length > 0)
        .filter(({ node: name, owners }) => {
          const node = picture.nodes.get(name);
          return !node?.facts.managed || !owners.includes(node.facts.uid);
        })
        .map(({ name }) => `${name} is the shadow of no managed node`),
    ),
};
