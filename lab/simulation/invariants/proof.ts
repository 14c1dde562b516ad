import { Counted } from './counted.ts';
import { compareVersions, type ShadowFacts } from './facts.ts';
import { type Picture, startIn } from './picture.ts';
import type { ReleaseFacts } from './release-facts.ts';
import type { Group } from './rulings.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { arrives, type SeenNode } from './seen-node.ts';

/** Times that a shadow states are whole seconds, and somebody has to look at them, milliseconds. */
const ROUNDED_MS = 60_000;

/**
 * F2: until as many nodes of a policy and family have been at rest on a release for the soak as are to prove it, no more follow it there. One that is
 * not there, or whose drain may not get on, leaves its place to another.
 */
export const proof: Rule = {
  name: 'proof',
  begin(picture) {
    const fleet = new Counted(picture);
    const { see } = ofWrites('bottlerocketshadows', (write) => {
      const start = startOf(picture, write);
      if (!start) return NOTHING;
      const { node, group, version } = start;
      const which = { group, family: node.facts.family };
      const [least, most] = [fleet.least(which, write.at), fleet.most(which, write.at)].map((members) =>
        Math.max(1, Math.min(members, group.proofNodes(members))),
      ) as [number, number];
      const others = followers(picture, start, write);
      const from = write.sentAt + ROUNDED_MS + picture.sight.apartMs - group.proofSoakMs;
      const well = others.filter(
        ({ facts: { uid } }) => !picture.updates.has(uid) && (picture.restedAt.get(uid) ?? 0) <= from,
      );
      if (well.length >= least || others.length < most) return NOTHING;
      const names = others.map(({ facts }) => facts.name).join(', ');
      return [`${node.facts.name} follows ${names} to ${version}, and ${most} are to prove it`];
    });
    return {
      see(entry) {
        fleet.see(entry);
        return see?.(entry) ?? NOTHING;
      },
    };
  },
};

interface Start {
  readonly node: SeenNode;
  readonly group: Group;
  readonly version: string;
  readonly ledgers: readonly ReleaseFacts[];
}

/** Of a node that has to wait for a proof: there was none, and it has not failed on the release, nor goes back. */
function startOf(picture: Picture, write: Write): Start | undefined {
  const { node: name, version = '', status } = startIn(write) ?? NO_START;
  const node = picture.nodes.get(name);
  const group = node && picture.rulings.groupOf(node.facts);
  if (!group || !status || arrives(node.facts) || compareVersions(version, status.current) < 0) return undefined;
  const all = [...picture.releases.values()];
  const ledgers = all.filter((one) => one.version === version && one.isOf(node.facts.family));
  const start = { node, group, version, ledgers };
  const isProven = ledgers.some(({ proven }) => proven.includes(group.name));
  return isProven || hasFailed(picture, start, node) ? undefined : start;
}

const NO_START = { node: '', version: '', status: undefined };

const hasFailed = (picture: Picture, { ledgers, version }: Start, { facts }: SeenNode): boolean =>
  ledgers.some(({ failed }) => failed.some(({ key }) => key === facts.uid)) ||
  picture.shadowOf(facts)?.status?.failed.includes(version) === true;

/** Others of its policy and family that follow it there, as who starts one must know. */
function followers(picture: Picture, start: Start, { sentAt }: Write): readonly SeenNode[] {
  const { node, group, version } = start;
  return picture
    .membersOf(group)
    .filter((other) => other !== node && other.facts.family === node.facts.family)
    .filter((other) => follows(picture, other, version) && !hasFailed(picture, start, other))
    .filter((other) => picture.sight.mustKnow(Math.max(picture.ruledAt(node), knownFrom(picture, other)), sentAt));
}

/** It is at rest on the version, or on its way to it, and in such a way that nobody leaves it out. */
function follows(picture: Picture, node: SeenNode, version: string): boolean {
  const { facts } = node;
  const shadow = picture.shadowOf(facts);
  if (!shadow?.status) return false;
  const isThere = facts.ready && picture.agentOf(facts.name).runs;
  if (!shadow.active) return isThere && shadow.status.current === version;
  if (shadow.state === 'Idle' || shadow.version !== version) return false;
  return isAsked(shadow, node) || (isThere && !mayBeStuck(shadow, node));
}

/** Its reboot is on record, so that it is waited for, unless it has given up. */
function isAsked({ state, version, status }: ShadowFacts, node: SeenNode): boolean {
  const { record } = status ?? {};
  if (state !== 'RebootedIntoUpdate' || status?.state === 'ErrorReset' || !isDrained(node)) return false;
  return record?.requested === true && record.version === version;
}

/** What a status says of a drain stays there when the drain is over. */
const mayBeStuck = ({ version, status }: ShadowFacts, node: SeenNode): boolean =>
  status?.draining === true && status.current !== version && !isDrained(node);

const isDrained = ({ facts }: SeenNode): boolean => facts.marks?.proof !== undefined;

/** Since when that is so. */
function knownFrom(picture: Picture, node: SeenNode): number {
  const { uid, name } = node.facts;
  const moved = picture.updates.get(uid)?.at ?? picture.restedAt.get(uid) ?? 0;
  return Math.max(moved, node.readyAt, node.drainedAt, picture.agentOf(name).since, picture.ruledAt(node));
}
