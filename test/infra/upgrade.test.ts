import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { type Fixed, fixedOf } from '../../tools/release/fixed.ts';
import { type Manifest, manifests } from './manifests.ts';

/**
 * What `kubectl apply` of the next release over the last one cannot change, or would leave behind. `npm version` writes `last-release.yaml`.
 */

type Release = Readonly<Record<string, Fixed>>;

const before = parse(readFileSync(new URL('last-release.yaml', import.meta.url), 'utf8')) as Release;

/** What cannot be applied over, in words. */
function obstacles(older: Release, newer: Release): string[] {
  return Object.entries(older).flatMap(([name, { fixed, served }]) => {
    const now = newer[name];
    if (now === undefined) return [`${name} would stay behind`];
    if (!isDeepStrictEqual(fixed, now.fixed)) return [`${name} cannot be changed so`];
    const gone = served.filter((version) => !now.served.includes(version));
    return gone.map((version) => `${name}: ${version} is no longer served`);
  });
}

test('the next release can be applied over the last one', () => {
  // As YAML has it: without what is undefined.
  const now = JSON.parse(JSON.stringify(fixedOf(manifests()))) as Release;
  expect(obstacles(before, now)).toEqual([]);
});

test('a selector, a role, a definition and an object that is gone are seen', () => {
  const change: Readonly<Record<string, (object: Manifest) => Manifest>> = {
    DaemonSet: (object) => ({ ...object, spec: { ...object.spec, selector: { matchLabels: { app: 'agent' } } } }),
    ClusterRoleBinding: (object) => ({ ...object, roleRef: { ...object.roleRef, name: 'other' } }),
    CustomResourceDefinition: (object) => ({ ...object, spec: { ...object.spec, versions: [] } }),
  };
  const changed = manifests()
    .filter(({ kind }) => kind !== 'Namespace')
    .map((object) => change[object.kind]?.(object) ?? object);
  expect(obstacles(before, fixedOf(changed))).toEqual(
    expect.arrayContaining([
      'Namespace /brupop-bottlerocket-aws would stay behind',
      'DaemonSet brupop-bottlerocket-aws/brupop-agent cannot be changed so',
      'ClusterRoleBinding /brupop-agent-role-binding cannot be changed so',
      'CustomResourceDefinition /bottlerocketshadows.brupop.bottlerocket.aws: v2 is no longer served',
    ]),
  );
});
