import { expect, test } from '@jest/globals';
import type { ConfigMap, KubeObject } from '../../../runtime/kube/objects.ts';
import type { Entry } from '../types.ts';
import { SCENARIO } from './histories.ts';
import { leadership } from './leadership.ts';
import { Picture } from './picture.ts';

const [resource, name] = ['configmaps', 'brupop-notifications-state'];

const memory = (leader: string, state: string): KubeObject & Pick<ConfigMap, 'data'> => ({
  metadata: { name, uid: 'a', resourceVersion: '1' },
  data: { leader, 'state.json': state },
});

test.each([
  ['at once', 0, memory('one', 'told'), 1],
  ['once it must know whether it leads', 15_000, memory('one', 'told'), 0],
  ['as its term begins, and changes nothing of it', 0, memory('one', ''), 0],
  ['where its own name is', 0, memory('two', 'told'), 0],
])('a leader writes what it has told over what another remembers, %s', (_, afterMs, after, breaches) => {
  const judge = leadership.begin(new Picture(SCENARIO), SCENARIO);
  const before = memory('two', '');
  const [by, sentAt] = ['controller-0', 1000 + afterMs];
  const look: Entry = { kind: 'request', at: 1000, by, verb: 'get', resource, name, code: 200, isVain: false };
  const write: Entry = { kind: 'write', at: sentAt, sentAt, by, resource, name, before, after };
  expect([look, write].flatMap((entry) => judge.see?.(entry) ?? [])).toHaveLength(breaches);
});
