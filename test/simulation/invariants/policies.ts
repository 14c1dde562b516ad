import type { Entry, Instant } from '../types.ts';
import { busy, Recent } from './concurrency.ts';
import { compareVersions, type NodeFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { mayFail, tally, well } from './proofs.ts';
import { changesLabels, NOTHING, type Rule, type Write } from './rule.ts';
import type { Group } from './rulings.ts';
import type { SeenNode } from './seen-node.ts';
import { SEEN_AFTER } from './sight.ts';
import { ofSteps, type Step } from './starts.ts';

/** Whoever rules the node, if that is surely known to whom has sent the step. */
function surelyBy(picture: Picture, { node, write }: Step): Group | undefined {
  return picture.sight.known(picture.ruledAt(node), write.sentAt) ? picture.rulings.groupOf(node.facts) : undefined;
}

/** Nothing begins, nor is disturbed, where nobody knows what holds, or where the policy is paused. */
export const ruled: Rule = {
  name: 'ruled',
  begin: (picture) =>
    ofSteps(picture, ({ node, write }) => {
      if (!picture.sight.known(picture.ruledAt(node), write.sentAt)) return undefined;
      const ruling = picture.rulings.of(node.facts);
      if (ruling.kind === 'ruled') return ruling.by.paused ? `under the pause of ${ruling.by.name}` : undefined;
      const names = ruling.names.join(', ');
      return ruling.kind === 'broken' ? `although ${names} cannot be obeyed` : `although ${names} all rule it`;
    }),
};

/** Within as much as a controller's clock may have been off. */
export const frozen: Rule = {
  name: 'frozen',
  begin: (picture) =>
    ofSteps(picture, (step) => {
      const { sentAt, by } = step.write;
      const slack = SEEN_AFTER + picture.sight.clockOf(by);
      const group = surelyBy(picture, step);
      const freeze = group?.freezes.find(({ from, to }) => from <= sentAt - slack && sentAt + slack < to);
      return group && freeze ? `in a freeze of ${group.name}` : undefined;
    }),
};

/** Nodes that take places of the group, for all that everybody knows. */
function takers(picture: Picture, group: Group, { write, node }: Step): readonly SeenNode[] {
  return [...busy(picture, write, node.facts.name)]
    .flatMap((name) => picture.nodes.get(name) ?? [])
    .filter(
      (one) =>
        one.facts.uid === node.facts.uid ||
        (one.facts.managed &&
          picture.rulings.isClaimed(one.facts, group.name) &&
          picture.sight.known(picture.ruledAt(one), write.sentAt)),
    );
}

const namesOf = (nodes: readonly SeenNode[]): string =>
  nodes
    .map(({ facts }) => facts.name)
    .toSorted()
    .join(', ');

/** Each policy has places of its own; `concurrency` judges those of all together. */
export const places: Rule = {
  name: 'places',
  begin(picture) {
    const capacities = new Map<string, Recent>();
    const steps = ofSteps(picture, (step) => {
      const group = step.kind === 'start' ? surelyBy(picture, step) : undefined;
      if (!group) return undefined;
      const most = capacities.get(group.name)?.most(step.write.at) ?? Infinity;
      const taking = takers(picture, group, step);
      return taking.length > most
        ? `where ${most} of ${said(group)} may be in update or unavailable: ${namesOf(taking)}`
        : undefined;
    });
    return {
      see(entry) {
        if (changesGroups(entry)) noteCapacities(picture, capacities, entry.at);
        return steps.see?.(entry) ?? NOTHING;
      },
    };
  },
};

const said = ({ name }: Group): string => name || 'those without a policy';

function changesGroups(entry: Entry): entry is Write {
  if (entry.kind !== 'write') return false;
  if (entry.resource === 'bottlerocketupdatepolicies') return entry.subresource !== 'status';
  return entry.resource === 'nodes' && changesLabels(entry);
}

function noteCapacities(picture: Picture, capacities: Map<string, Recent>, at: Instant): void {
  for (const group of picture.rulings.groups) {
    const capacity = capacities.get(group.name) ?? new Recent();
    capacities.set(group.name, capacity);
    capacity.add(at, group.maxConcurrent(picture.membersOf(group).length));
  }
}

/** Nodes without the label are a zone of their own. */
export const zones: Rule = {
  name: 'zones',
  begin: (picture) =>
    ofSteps(picture, (step) => {
      const group = step.kind === 'start' ? surelyBy(picture, step) : undefined;
      if (!group || group.zonesAtOnce === Infinity) return undefined;
      const taking = takers(picture, group, step);
      const disturbed = new Set([...taking, step.node].map(({ facts }) => facts.labels[group.zoneKey] ?? ''));
      return disturbed.size > group.zonesAtOnce
        ? `where ${group.zonesAtOnce} zones of ${group.name} may be disturbed: ${[...disturbed].toSorted().join(', ')}`
        : undefined;
    }),
};

/** A time of a policy is in whole seconds. */
const ROUNDED_MS = 1000;

/** From the end of an update to the next start; one that is called off undisturbed has none. A process that begins anew knows of no end before. */
export const pauses: Rule = {
  name: 'pauses',
  begin: (picture) =>
    ofSteps(picture, (step) => {
      const { sentAt, by } = step.write;
      const group = step.kind === 'start' ? surelyBy(picture, step) : undefined;
      if (!group || group.pauseBetweenMs === 0) return undefined;
      const begun = picture.beginnings.of(by, sentAt);
      // A clock that was behind when the update ended may be ahead by now.
      const from = sentAt - group.pauseBetweenMs + 2 * picture.sight.clockOf(by) + ROUNDED_MS;
      const ended = picture.membersOf(group).find(({ facts }) => {
        const at = picture.pausedFrom.get(facts.uid) ?? -Infinity;
        return at > Math.max(from, begun + SEEN_AFTER) && picture.sight.known(at, sentAt);
      });
      return ended ? `in the pause of ${group.name} after ${ended.facts.name}` : undefined;
    }),
};

/** Dependents never come before those that they are after. */
export const dependencies: Rule = {
  name: 'dependencies',
  begin(picture) {
    const completed = new Set<string>();
    const looked = new Map<string, number>();
    const steps = ofSteps(picture, (step) => {
      const { version } = step.shadow;
      const group = step.kind === 'start' ? surelyBy(picture, step) : undefined;
      if (!group || version === undefined) return undefined;
      const { family } = step.node.facts;
      const owed = group.after.find((name) => !passes(picture, name, { family, version, completed, step }));
      return owed === undefined ? undefined : `on ${version}, which ${owed} has not completed`;
    });
    return {
      see(entry) {
        const breaches = steps.see?.(entry) ?? NOTHING;
        if (entry.kind === 'write') noteCompleted(picture, { completed, looked }, entry);
        return breaches;
      },
    };
  },
};

interface Release {
  readonly family: string;
  readonly version: string;
}

const keyOf = (name: string, { family, version }: Release): string => `${name} ${family} ${version}`;

/** What was complete once stays so. */
function passes(
  picture: Picture,
  name: string,
  { completed, step, ...release }: Release & { readonly completed: ReadonlySet<string>; readonly step: Step },
): boolean {
  if (completed.has(keyOf(name, release))) return true;
  if (!picture.rulings.has(name)) return false;
  const isKnown = (node: SeenNode): boolean => picture.sight.known(picture.ruledAt(node), step.write.sentAt);
  if (contestedIn(picture, name, release.family).some(isKnown)) return false;
  const group = picture.rulings.groups.find((one) => one.name === name);
  const kin = group ? kinOf(picture, group, release.family) : [];
  if (!group || kin.length === 0 || !kin.every(isKnown)) return true;
  return isPast(picture, kin, release.version) || isComplete(picture, group, { ...release, now: step.write.at });
}

const kinOf = (picture: Picture, group: Group, family: string): readonly SeenNode[] =>
  picture.membersOf(group).filter(({ facts }) => facts.family === family);

/** Nodes that others claim as well: nobody knows what becomes of these. */
const contestedIn = (picture: Picture, name: string, family: string): readonly SeenNode[] =>
  [...picture.nodes.values()].filter(
    ({ facts }) => facts.managed && facts.family === family && picture.rulings.isContested(facts, name),
  );

/** It is offered to none of them any more, and newer ones run there. */
function isPast(picture: Picture, kin: readonly SeenNode[], version: string): boolean {
  const known = kin.flatMap(({ facts }) => picture.shadowOf(facts)?.status ?? []);
  return (
    known.every(({ target }) => target !== version) &&
    known.some(({ current }) => compareVersions(current, version) > 0)
  );
}

/** A machine that has just died has told nobody that its agent is gone, milliseconds. */
const UNSEEN = 60_000;

/** One of them runs it and is well, none that could go on waits for it, or is on its way, and fewer have failed on it than may. */
function isComplete(
  picture: Picture,
  group: Group,
  { family, version, now }: Release & { readonly now: Instant },
): boolean {
  const kin = kinOf(picture, group, family);
  if (!kin.some((node) => well(picture, node, now - UNSEEN) === version)) return false;
  if (kin.some((node) => isOwing(picture, node.facts, version))) return false;
  const { failed, members } = tally(picture, { group, family, version });
  return failed.length < mayFail(group, members, true) && contestedIn(picture, group.name, family).length === 0;
}

function isOwing(picture: Picture, facts: NodeFacts, version: string): boolean {
  const shadow = picture.shadowOf(facts);
  if (!shadow?.status || facts.held || !facts.ready || !picture.agentOf(facts.name).runs) return false;
  if (hasFailedOn(shadow, version) || (!shadow.active && shadow.status.crashes > 0)) return false;
  return isOnItsWay(shadow, version);
}

/** Whoever is at rest after a failure pauses, which can take a day, and nobody waits for that. */
function isOnItsWay({ active, version: wanted, status }: ShadowFacts, version: string): boolean {
  if (active) return wanted === version;
  return status?.crashes === 0 && status.target === version && status.current !== version;
}

const hasFailedOn = ({ status }: ShadowFacts, version: string): boolean => status?.failed.includes(version) ?? false;

interface Completions {
  readonly completed: Set<string>;
  /** How things stood when it was last looked, by group and family: what stands as it stood has completed nothing since. */
  readonly looked: Map<string, number>;
}

/** Whoever looks a moment later may find that it was complete. */
function noteCompleted(picture: Picture, completions: Completions, write: Write): void {
  const owed = new Set(picture.rulings.groups.flatMap(({ after }) => after));
  if (owed.size === 0) return;
  for (const { facts } of concernedBy(picture, write)) {
    const group = picture.rulings.groupOf(facts);
    if (!group || !owed.has(group.name)) continue;
    noteCompletedBy(picture, completions, { group, family: facts.family, now: write.at });
  }
}

/** What people decide can complete a release anywhere. */
function concernedBy(picture: Picture, { resource, subresource, name }: Write): Iterable<SeenNode> {
  if (resource === 'bottlerocketupdatepolicies') return subresource === 'status' ? [] : picture.nodes.values();
  if (resource !== 'bottlerocketshadows' && resource !== 'nodes') return [];
  const node = picture.nodes.get(name.replace(/^brs-/, ''));
  return node ? [node] : [];
}

function noteCompletedBy(
  picture: Picture,
  { completed, looked }: Completions,
  { group, family, now }: { readonly group: Group; readonly family: string; readonly now: Instant },
): void {
  const key = `${group.name} ${family}`;
  if (looked.get(key) === picture.standing) return;
  looked.set(key, picture.standing);
  const versions = new Set(kinOf(picture, group, family).flatMap((one) => well(picture, one, now - UNSEEN) ?? []));
  for (const version of versions) {
    const release = { family, version };
    if (isComplete(picture, group, { ...release, now })) completed.add(keyOf(group.name, release));
  }
}
