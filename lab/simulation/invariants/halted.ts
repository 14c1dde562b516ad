import type { Picture } from './picture.ts';
import type { ReleaseFacts } from './release-facts.ts';
import type { SeenNode } from './seen-node.ts';
import type { Wish } from './versions-obeyed.ts';

/**
 * F2: the ledger says that failures have halted the release, and as many of them count as did, so that no good end and no person has ended the halt
 * since. A node that has failed on it may always try again.
 */
export function haltedByFailures(picture: Picture, node: SeenNode, version: string | undefined): Wish | undefined {
  const { uid, family } = node.facts;
  const group = picture.rulings.groupOf(node.facts);
  const all = [...picture.releases.values()].filter((one) => one.version === version && one.isOf(family));
  if (!group || all.some(({ isAllowed, failed }) => isAllowed || failed.some(({ key }) => key === uid)))
    return undefined;
  const halt = all.find((one) =>
    one.halts.some(
      ({ policy, limit, isProven }) => policy === group.name && counted(picture, one, { policy, isProven }) >= limit,
    ),
  );
  const since = Math.max(...all.map(({ toldAt }) => toldAt), picture.releaseGoneAt, picture.ruledAt(node));
  return halt && { what: `${version} is halted by failures`, since };
}

/** Entries that surely count: of nodes that the policy rules and that do not run it, of those that are gone, and of checks. */
function counted(
  { nodes, rulings }: Picture,
  { failed, version }: ReleaseFacts,
  { policy: name, isProven }: { readonly policy: string; readonly isProven: boolean },
): number {
  const there = new Map([...nodes.values()].map(({ facts }) => [facts.uid, facts] as const));
  return failed.filter(({ key, policy, reason }) => {
    const facts = there.get(key);
    if (facts) return rulings.groupOf(facts)?.name === name && facts.version !== version;
    return policy === name && !(isProven && reason === 'Gone');
  }).length;
}
