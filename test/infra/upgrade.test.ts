import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { type Manifest, manifests } from './manifests.ts';

/**
 * What `kubectl apply` of the next release over the last one cannot change, or would leave behind. `last-release.yaml` is `dist/` of the last
 * release: `npm version` replaces it.
 */

const before = parseAllDocuments(readFileSync(new URL('last-release.yaml', import.meta.url), 'utf8')).map(
  (document) => document.toJS() as Manifest,
);

/** What an object of a kind may not say otherwise: the API server refuses it, or what runs would no longer be found. */
const FIXED: Readonly<Record<string, (object: Manifest) => unknown>> = {
  Deployment: ({ spec }) => spec.selector,
  DaemonSet: ({ spec }) => spec.selector,
  Service: ({ spec }) => ({ selector: spec.selector, type: spec.type }),
  PodDisruptionBudget: ({ spec }) => spec.selector,
  ClusterRoleBinding: ({ roleRef }) => roleRef,
  RoleBinding: ({ roleRef }) => roleRef,
  PriorityClass: ({ value, preemptionPolicy }) => ({ value, preemptionPolicy }),
  Certificate: ({ spec }) => ({ secretName: spec.secretName, key: spec.isCA && spec.privateKey }),
  CustomResourceDefinition: ({ spec }) => ({ group: spec.group, names: spec.names, scope: spec.scope }),
};

const nameOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

/** Versions in which objects may be stored, or are read and written by older processes and by people. */
const versionsOf = ({ kind, spec }: Manifest): string[] =>
  kind === 'CustomResourceDefinition'
    ? (spec.versions as { name: string; served: boolean }[]).filter(({ served }) => served).map(({ name }) => name)
    : [];

/** What cannot be applied over, in words. */
function obstacles(older: readonly Manifest[], newer: readonly Manifest[]): string[] {
  const after = new Map(newer.map((object) => [nameOf(object), object]));
  return older.flatMap((object) => {
    const name = nameOf(object);
    const now = after.get(name);
    if (now === undefined) return [`${name} would stay behind`];
    const fixed = FIXED[object.kind] ?? (() => undefined);
    const gone = versionsOf(object).filter((version) => !versionsOf(now).includes(version));
    return [
      ...(isDeepStrictEqual(fixed(object), fixed(now)) ? [] : [`${name} cannot be changed so`]),
      ...gone.map((version) => `${name}: ${version} is no longer served`),
    ];
  });
}

test('the next release can be applied over the last one', () => {
  expect(obstacles(before, manifests())).toEqual([]);
});

test('a selector, a role, a definition and an object that is gone are seen', () => {
  const change: Readonly<Record<string, (object: Manifest) => Manifest>> = {
    DaemonSet: (object) => ({ ...object, spec: { ...object.spec, selector: { matchLabels: { app: 'agent' } } } }),
    ClusterRoleBinding: (object) => ({ ...object, roleRef: { ...object.roleRef, name: 'other' } }),
    CustomResourceDefinition: (object) => ({ ...object, spec: { ...object.spec, versions: [] } }),
  };
  const changed = before
    .filter(({ kind }) => kind !== 'Namespace')
    .map((object) => change[object.kind]?.(object) ?? object);
  const found = obstacles(before, changed);
  for (const words of [
    'Namespace /brupop-bottlerocket-aws would stay behind',
    'DaemonSet brupop-bottlerocket-aws/brupop-agent cannot be changed so',
    'ClusterRoleBinding /brupop-agent-role-binding cannot be changed so',
    'CustomResourceDefinition /bottlerocketshadows.brupop.bottlerocket.aws: v2 is no longer served',
  ])
    expect(found).toContain(words);
});
