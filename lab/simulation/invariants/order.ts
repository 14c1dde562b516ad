import type { Instant } from '../types.ts';
import { at as within, compareVersions, isController, list, type NodeFacts, nodeOf, text } from './facts.ts';
import { type Picture, startIn } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import type { SeenNode } from './seen-node.ts';

/** The newest version that nodes of a policy have run, by policy and family. */
class Ran {
  readonly #picture: Picture;
  readonly #newest = new Map<string, string>();

  constructor(picture: Picture) {
    this.#picture = picture;
  }

  see({ resource, name }: Write): void {
    const { nodes } = this.#picture;
    if (resource === 'bottlerocketupdatepolicies') for (const { facts } of nodes.values()) this.#note(facts);
    const facts = nodes.get(resource === 'bottlerocketshadows' ? nodeOf(name) : name)?.facts;
    if (facts) this.#note(facts);
  }

  #note(facts: NodeFacts): void {
    const group = this.#picture.rulings.groupOf(facts);
    if (!group) return;
    const key = keyOf(group.name, facts);
    const all = [facts.version, this.#picture.shadowOf(facts)?.status?.current, this.#newest.get(key)];
    const newest = all
      .flatMap((one) => (one ? [one] : []))
      .toSorted(compareVersions)
      .at(-1);
    if (newest !== undefined) this.#newest.set(key, newest);
  }

  hasRun(policy: string, facts: NodeFacts, version: string): boolean {
    return compareVersions(this.#newest.get(keyOf(policy, facts)) ?? '0.0.0', version) >= 0;
  }
}

const keyOf = (policy: string, { family }: NodeFacts): string => `${policy}/${family}`;

/** P5: no node starts on a newer release where its policy comes after another whose nodes of the family have never run that, nor a later one. */
export const after: Rule = {
  name: 'after',
  begin(picture) {
    const ran = new Ran(picture);
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        ran.see(entry);
        const { node: name, version, status } = startIn(entry) ?? {};
        const node = picture.nodes.get(name ?? '');
        if (!node || !version || !status || compareVersions(version, status.current) <= 0) return NOTHING;
        const first = firstOf(picture, node, entry.sentAt).find((other) => !ran.hasRun(other, node.facts, version));
        return first === undefined ? NOTHING : [`${name} starts on ${version}, which no node of ${first} has run yet`];
      },
    };
  },
};

/** Names of the policies that come before that of the node, and surely have nodes of its family. */
function firstOf(picture: Picture, node: SeenNode, sentAt: Instant): readonly string[] {
  const { nodes, rulings, sight } = picture;
  const isKnown = (one: SeenNode): boolean => sight.mustKnow(picture.ruledAt(one), sentAt);
  if (!isKnown(node)) return NOTHING;
  const alike = [...nodes.values()].filter(
    (one) => one.facts.managed && one.facts.family === node.facts.family && isKnown(one),
  );
  const there = new Set(alike.map(({ facts }) => rulings.groupOf(facts)?.name));
  return (rulings.groupOf(node.facts)?.after ?? []).filter((name) => there.has(name));
}

/** P8: what a policy's status has once said of a release is said by each later one. */
export const times: Rule = {
  name: 'times',
  begin: () =>
    ofWrites('bottlerocketupdatepolicies', ({ by, name, before, after: made }) => {
      if (!isController(by) || !before || !made) return NOTHING;
      const now = new Map(releasesIn(made).map((one) => [one.key, one]));
      return releasesIn(before).flatMap(({ key, said }) => {
        const still = now.get(key)?.said;
        const lost = still ? TIMES.filter((time) => said[time] !== undefined && said[time] !== still[time]) : [];
        return lost.map((time) => `${by} wrote of ${key} in ${name} another ${time} than it had`);
      });
    }),
};

const TIMES = ['firstOfferedAt', 'provenAt', 'completedAt'] as const;

const releasesIn = (policy: object) =>
  list(within(policy, 'status', 'releases')).map((one) => ({
    key: `${text(within(one, 'version'))} (${text(within(one, 'family'))})`,
    said: {
      firstOfferedAt: text(within(one, 'firstOfferedAt')),
      provenAt: text(within(one, 'provenAt')),
      completedAt: text(within(one, 'completedAt')),
    },
  }));
