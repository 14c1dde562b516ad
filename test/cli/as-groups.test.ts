import { expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { impersonatedIn } from '../../runtime/cli/as-groups.ts';
import { folder } from '../folder.ts';

test('the user of a context can impersonate somebody and their groups', () => {
  const contexts = ['ann', 'bob'].map((user) => ({ name: `as-${user}`, context: { cluster: 'c', user } }));
  const ann = { name: 'ann', user: { token: 't', as: 'viewer', 'as-groups': ['readers', 'guests'] } };
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  writeFileSync(first, JSON.stringify({ 'current-context': 'as-ann', contexts }));
  writeFileSync(second, JSON.stringify({ users: [ann, { name: 'bob', user: { token: 't' } }] }));
  const paths = [first, join(folder, 'none'), second].join(delimiter);
  expect(impersonatedIn(paths, undefined)).toEqual({ user: 'viewer', groups: ['readers', 'guests'] });
  expect(impersonatedIn(paths, 'as-bob')).toBeUndefined();
  expect(impersonatedIn('', undefined)).toBeUndefined();
});

test('a kubeconfig that makes no sense is named', () => {
  const path = join(folder, 'broken');
  writeFileSync(path, 'users: [');
  expect(() => impersonatedIn(path, undefined)).toThrow(`${path} is not a readable kubeconfig`);
});
