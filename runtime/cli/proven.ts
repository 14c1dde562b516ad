import type { ReleaseResource } from '../api/resources.ts';
import { RELEASE_API_VERSION, RELEASE_KIND, releaseObjectName } from '../api/release/names.ts';
import { compareSemver } from '../api/shadow/semver.ts';

interface Proven {
  /** Null for the nodes that the variables rule. */
  readonly policy: string | null;
  readonly family: string;
  readonly version: string;
  /** RFC 3339. */
  readonly since: string;
  /** To be committed for another cluster, with `spec.provenIn`. Its name is not that of the ledger there, which would go with it once it is pruned. */
  readonly object: object;
}

/** The newest release of each family that is proven, and not halted, under each policy. */
export function provenIn(releases: readonly ReleaseResource[]): readonly Proven[] {
  const newest = new Map<string, Proven>();
  for (const one of releases.flatMap(provenOf)) {
    const key = `${one.policy ?? ''} ${one.family}`;
    const before = newest.get(key);
    if (!before || compareSemver(one.version, before.version) > 0) newest.set(key, one);
  }
  return [...newest.values()];
}

function provenOf({ spec, status }: ReleaseResource): readonly Proven[] {
  if (status?.state === 'Halted') return [];
  return Object.entries(status?.policies ?? {}).flatMap(([policy, { provenAt, haltedAt }]) =>
    provenAt != null && haltedAt == null ? provenUnder(policy, spec, provenAt) : [],
  );
}

function provenUnder(policy: string, { family, version }: ReleaseResource['spec'], since: string): Proven {
  const metadata = { name: `promoted.${releaseObjectName({ family, version })}` };
  const object = { apiVersion: RELEASE_API_VERSION, kind: RELEASE_KIND, metadata, spec: { family, version } };
  return { policy: policy === '' ? null : policy, family, version, since, object };
}
