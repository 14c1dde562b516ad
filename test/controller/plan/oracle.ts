import type { Command } from '../../../runtime/controller/plan/facts/commands.ts';
import type { PolicyView } from '../../../runtime/controller/plan/facts/policies.ts';
import type { NodeView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { concurrency, failureBudget } from '../../../runtime/api/policy/quantity.ts';
import type { UpdatePolicy } from '../../../runtime/api/policy/policy.ts';
import { Facts, hasFailedOn, isResting, type Judged, type Ruler, type Started } from './facts.ts';
import { ZONE } from './members.ts';

/** What must hold of any plan under policies. */

/** What the plan breaks, in words. */
export function faultsOf(judged: Judged): readonly string[] {
  const facts = new Facts(judged);
  return LAWS.filter(([, holds]) => !holds(facts)).map(([says]) => says);
}

const LAWS: readonly (readonly [says: string, holds: (facts: Facts) => boolean])[] = [
  [
    'each managed node has one verdict, which names who rules it',
    (facts) => {
      const told = facts.plan.verdicts.map(({ node, policy }) => `${node} ${policy}`);
      const due = facts.world.nodes
        .filter(({ managed }) => managed)
        .map((node) => `${node.name} ${facts.rulerOf(node).name}`);
      return told.join() === due.toSorted().join();
    },
  ],
  [
    'no more nodes are updated at once than all policies together may',
    ({ world, rules, busy, starts }) => {
      const capacity = concurrency(rules.maxConcurrent, world.nodes.filter(({ managed }) => managed).length);
      return starts.length === 0 || new Set([...busy, ...starts.map(({ node }) => node.uid)]).size <= capacity;
    },
  ],
  [
    'no more nodes are updated at once than their policy says',
    (facts) =>
      facts.starts.every(({ ruler }) => {
        const capacity = concurrency(ruler.rules!.maxConcurrent, facts.membersOf(ruler.name).length);
        return takenBy(facts, ruler).length <= capacity;
      }),
  ],
  [
    'no more zones are worked on at once than their policy says',
    (facts) =>
      facts.starts.every(({ ruler }) => {
        const zones = new Set(takenBy(facts, ruler).map(({ labels }) => labels[ZONE]));
        return zones.size <= ruler.rules!.zones.atOnce;
      }),
  ],
  [
    'nothing starts that nobody rules, or whose policy is paused',
    ({ starts }) => starts.every(({ ruler }) => ruler.rules?.paused === false),
  ],
  [
    'nothing starts, and no node is disturbed, in a freeze',
    (facts) =>
      [...facts.starts.map(({ ruler }) => ruler), ...disturbed(facts)].every(
        ({ rules }) => !isFrozen(rules!, facts.now),
      ),
  ],
  [
    'no node is disturbed that nobody rules, or whose policy is paused',
    (facts) => disturbed(facts).every(({ rules }) => rules?.paused === false),
  ],
  [
    'nothing starts, and nothing is disturbed, while what is known may be old',
    (facts) => facts.world.notCurrent === undefined || facts.starts.length + disturbed(facts).length === 0,
  ],
  [
    'nothing starts outside the windows of its policy, but what somebody has asked for',
    ({ starts }) =>
      starts.every(
        ({ ruler: { window }, shadow, node }) =>
          node.askedBy !== undefined || window!.open || shadow.offeredAt! <= window!.triggeredAt!,
      ),
  ],
  [
    'nothing starts before the pause after the last update is over',
    (facts) =>
      facts.starts.every(({ ruler: { name, rules } }) => {
        if (rules!.pauseBetweenMs === 0) return true;
        const ends = facts.membersOf(name).map((node) => facts.shadowOf(node)?.endedAt ?? -Infinity);
        return Math.max(...ends) + rules!.pauseBetweenMs <= facts.now;
      }),
  ],
  [
    'nothing starts before the interval after its last update is over',
    ({ starts, now }) =>
      starts.every(({ ruler, shadow, shadow: { finishedAt = -Infinity }, version }) => {
        const isBack = shadow.status!.current_version > version;
        return isBack || finishedAt + (ruler.rules!.minIntervalMs ?? 0) <= now;
      }),
  ],
  ['no more nodes start on a release that is not proven than are to prove it', isProvenFirst],
  ['no more nodes are disturbed for a release that is not proven than are to prove it', isProvenBeforeDisturbance],
  [
    'nothing starts on a release that waits for another policy',
    (facts) => facts.starts.every((start) => isAwaitedNowhere(facts, start)),
  ],
];

/** Nodes that certainly take a part of the budget of a policy once the plan is carried out. */
function takenBy(facts: Facts, ruler: Ruler): readonly NodeView[] {
  const uids = new Set([...facts.busy, ...facts.starts.map(({ node }) => node.uid)]);
  return facts.world.nodes.filter((node) => {
    const { rules, rivals } = facts.rulerOf(node);
    const isClaimed = ruler.name !== undefined && rivals.includes(ruler.name);
    return uids.has(node.uid) && (rules === ruler.rules || isClaimed);
  });
}

const isDisturbing = (command: Command): boolean =>
  command.kind === 'set-spec' && command.spec.state === 'RebootedIntoUpdate';

/** Who rules the nodes that the plan disturbs. */
function disturbed(facts: Facts): readonly Ruler[] {
  return disturbedNodes(facts).map((node) => facts.rulerOf(node));
}

function disturbedNodes({ world, plan }: Facts): readonly NodeView[] {
  const names = new Set(
    plan.commands.filter(isDisturbing).map((command) => ('shadow' in command ? command.shadow : '')),
  );
  return world.nodes.filter(({ shadowName }) => names.has(shadowName));
}

const isFrozen = ({ freezes }: UpdatePolicy, now: number): boolean =>
  freezes.some(({ from, to }) => from <= now && now < to);

function neededOf({ nodes: share }: UpdatePolicy['proof'], members: readonly NodeView[]): number {
  const asked =
    share.kind === 'count'
      ? share.count
      : share.kind === 'percent'
        ? Math.ceil((share.percent * members.length) / 100)
        : Infinity;
  return Math.max(1, Math.min(asked, members.length));
}

/** How a version stands with the nodes of a policy and family that prove it together, counting only what is certain. */
function standing(facts: Facts, { name, rules }: Ruler, one: NodeView, version: string) {
  const members = facts.membersOf(name).filter((node) => node.family === one.family);
  const { proof } = rules!;
  const together = members.filter((node) => isWith(node, one, { rules }));
  const needed = neededOf(proof, together);
  const all = together.flatMap((node) => {
    const shadow = facts.shadowOf(node);
    return shadow?.status ? [{ node, shadow, status: shadow.status }] : [];
  });
  const live = all.filter(({ node }) => facts.isLive(node));
  const resting = live.filter(({ shadow, status }) => isResting(shadow) && status.current_version === version);
  const well = resting.filter(({ node, shadow: { upToDateSince, stateSeenAt, finishedAt } }) => {
    const since = Math.max(upToDateSince ?? stateSeenAt, finishedAt ?? -Infinity, node.readyChangedAt);
    return rules!.proof.soakMs === 0 || since + rules!.proof.soakMs <= facts.now;
  });
  const fresh = live.filter(
    ({ shadow }) => !isResting(shadow) && shadow.spec.version === version && !hasFailedOn(shadow, version),
  );
  const failed = all.filter(({ shadow }) => hasFailedOn(shadow, version)).length;
  const mayFail = Math.min(neededOf(proof, members) + 2, failureBudget(rules!.maxFailed, members.length));
  return { needed, isProven: well.length >= needed, resting, fresh, failed, mayFail };
}

/** They prove releases together. */
const isWith = (a: NodeView, b: NodeView, { rules }: Pick<Ruler, 'rules'>): boolean =>
  a.labels[rules!.proof.per ?? ''] === b.labels[rules!.proof.per ?? ''];

function isProvenFirst(facts: Facts): boolean {
  return facts.starts.every(({ node, shadow, ruler, version }) => {
    if (hasFailedOn(shadow, version)) return true;
    const { needed, isProven, resting, fresh, failed, mayFail } = standing(facts, ruler, node, version);
    if (isProven) return true;
    const starting = facts.starts.filter(
      (one) =>
        one.version === version &&
        one.node.family === node.family &&
        isWith(one.node, node, ruler) &&
        one.ruler.name === ruler.name &&
        !hasFailedOn(one.shadow, version) &&
        !fresh.some(({ node: { uid } }) => uid === one.node.uid),
    ).length;
    const inFlight = fresh.length + starting;
    return inFlight + resting.length <= needed && inFlight + failed <= mayFail;
  });
}

function isProvenBeforeDisturbance(facts: Facts): boolean {
  return disturbedNodes(facts).every((node) => {
    const shadow = facts.shadowOf(node)!;
    const version = shadow.spec.version!;
    const said = facts.plan.verdicts.find((verdict) => verdict.node === node.name)?.reason;
    // It counts as one that failed on the version itself, and those may always try again.
    if (hasFailedOn(shadow, version) || said === 'NotReturned') return true;
    const { needed, isProven, resting, fresh } = standing(facts, facts.rulerOf(node), node, version);
    const now = disturbedNodes(facts);
    const moving = fresh.filter(
      (one) => now.includes(one.node) || ['RebootedIntoUpdate', 'MonitoringUpdate'].includes(one.shadow.spec.state),
    );
    return isProven || moving.length + resting.length <= needed;
  });
}

/** No policy that has to come first has a node that waits for the release and could start on it, or that others claim. */
function isAwaitedNowhere(facts: Facts, { node: { family }, ruler, version }: Started): boolean {
  return ruler.rules!.after.every((name) => {
    const awaited = facts.world.policies.find(({ policy }) => policy.name === name);
    if (!awaited) return false;
    const isComplete = awaited.resource?.status?.releases?.some(
      (one) => one.family === family && one.version === version && one.completedAt != null,
    );
    if (isComplete) return true;
    const isContested = facts.world.nodes.some(
      (node) => node.managed && node.family === family && facts.rulerOf(node).rivals.includes(name),
    );
    if (isContested) return false;
    if (isHaltedUnder(facts, awaited, { family, version })) return false;
    const waiting = facts.membersOf(name).filter((node) => {
      const shadow = facts.shadowOf(node);
      if (
        !shadow?.status ||
        shadow.status.crash_count > 0 ||
        node.family !== family ||
        node.held ||
        !facts.isLive(node)
      )
        return false;
      const { current_version: current, target_version: target } = shadow.status;
      return isResting(shadow) && target === version && current !== version && !hasFailedOn(shadow, version);
    });
    return waiting.length === 0;
  });
}

/** As many have failed on it as may, which is a halt however well it does elsewhere; unless nobody waits for it any more. */
function isHaltedUnder(
  facts: Facts,
  { kind, policy }: PolicyView,
  release: { family: string; version: string },
): boolean {
  if (kind === 'broken') return false;
  const members = facts.membersOf(policy.name).filter(({ family }) => family === release.family);
  const shadows = members.flatMap((node) => facts.shadowOf(node) ?? []);
  const failed = shadows.filter((shadow) => hasFailedOn(shadow, release.version)).length;
  const isWanted = shadows.some(
    ({ status }) => status?.target_version === release.version && status.current_version !== release.version,
  );
  return isWanted && failed >= failureBudget(policy.maxFailed, members.length);
}
