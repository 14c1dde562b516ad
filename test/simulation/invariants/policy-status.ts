import type { KubeObject } from '../../../runtime/kube/objects.ts';
import { at, isController, list } from './facts.ts';
import { NOTHING, ofWrites, type Rule } from './rule.ts';

const SAID = ['firstOfferedAt', 'provenAt', 'completedAt'] as const;

/** P8: what a status has once said of a release stays for as long as it names that. */
export const saidOnce: Rule = {
  name: 'said-once',
  begin: () =>
    ofWrites('bottlerocketupdatepolicies', ({ by, name, before, after }) => {
      if (!before || !after || !isController(by)) return NOTHING;
      const made = new Map(releasesIn(after).map((release) => [nameOf(release), release]));
      return releasesIn(before).flatMap((release) => {
        const now = made.get(nameOf(release));
        const taken = SAID.filter((said) => now && at(release, said) != null && at(release, said) !== at(now, said));
        return taken.map((said) => `${by} took ${said} of ${nameOf(release)} from the status of ${name}`);
      });
    }),
};

const releasesIn = (policy: KubeObject): readonly unknown[] => list(at(policy, 'status', 'releases'));

const nameOf = (release: unknown): string => `${String(at(release, 'family'))} ${String(at(release, 'version'))}`;
