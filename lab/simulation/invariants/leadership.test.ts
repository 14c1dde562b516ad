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

const BY = 'controller-0';
const about = { by: BY, resource, name } as const;
const write = (sentAt: number, before: KubeObject, after: KubeObject, by = BY): Entry => {
  const written = { kind: 'write', at: sentAt, sentAt, before, after } as const;
  return { ...written, ...about, by };
};
const look: Entry = { ...about, kind: 'request', at: 1000, verb: 'get', code: 200, isVain: false };
const begins = (at: number): Entry => ({ kind: 'process', at, process: BY, event: 'starts' });

function breaches(entries: readonly Entry[]): readonly string[] {
  const picture = new Picture(SCENARIO);
  const judge = leadership.begin(picture, SCENARIO);
  return entries.flatMap((entry) => {
    picture.see(entry);
    return judge.see?.(entry) ?? [];
  });
}

test.each([
  ['at once', 0, memory('one', 'told'), 1],
  ['once it must know whether it leads', 15_000, memory('one', 'told'), 0],
  ['as its term begins, and changes nothing of it', 0, memory('one', ''), 0],
  ['where its own name is', 0, memory('two', 'told'), 0],
])('a leader writes what it has told over what another remembers, %s', (_, afterMs, after, count) => {
  expect(breaches([look, write(1000 + afterMs, memory('two', ''), after)])).toHaveLength(count);
});

test.each([
  ['it has not looked', []],
  ['it has looked before the other wrote', [look, write(2000, memory('one', ''), memory('two', ''), 'controller-1')]],
  ['the process before it has looked', [look, begins(2000)]],
  ['its look was refused', [{ ...look, code: 503 }]],
] as const)('a leader that writes over what another remembers has not waited where %s', (_, entries) => {
  expect(breaches([...entries, write(60_000, memory('two', ''), memory('one', 'told'))])).toHaveLength(1);
});
