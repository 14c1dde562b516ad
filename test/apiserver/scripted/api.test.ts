import { expect, test } from '@jest/globals';
import { ScriptedApi } from './api.ts';

const get = (path: string): { line: string; answer: object } => ({ line: `GET ${path}`, answer: { path } });

async function played(...paths: readonly string[]): Promise<ScriptedApi> {
  const api = new ScriptedApi();
  api.expects(get('/a'), [get('/b'), get('/c')], { ...get('/d'), query: { limit: '1' } });
  for (const path of paths) {
    await api.request({ method: 'GET', path, query: { limit: path === '/d' ? '1' : '2' } }).catch(() => undefined);
  }
  return api;
}

test('a script that is kept ends well, in any order within a group', async () => {
  (await played('/a', '/c', '/b', '/d')).end();
});

test.each([
  ['a call is missing', ['/a', '/b', '/c']],
  ['a call comes too early', ['/b', '/a', '/c', '/d']],
  ['a call comes twice', ['/a', '/a', '/b', '/c', '/d']],
  ['a call comes after all', ['/a', '/b', '/c', '/d', '/d']],
])('it fails at its end where %s', async (_what, paths) => {
  const api = await played(...paths);
  expect(() => api.end()).toThrow();
});

test('a call with more than it may hold fails at once', async () => {
  const api = new ScriptedApi();
  api.expects({ line: 'PATCH /a', exactly: { spec: {} }, answer: {} });
  const body = { spec: { unschedulable: null } };
  await expect(api.request({ method: 'PATCH', path: '/a', body })).rejects.toThrow('unschedulable');
  expect(() => api.end()).toThrow('unschedulable');
});

test('a call without what it has to hold fails at once', async () => {
  const api = new ScriptedApi();
  api.expects({ line: 'PATCH /a', body: { metadata: { resourceVersion: '1' } }, answer: {} });
  await expect(api.request({ method: 'PATCH', path: '/a', body: { metadata: {} } })).rejects.toThrow('resourceVersion');
  expect(() => api.end()).toThrow('resourceVersion');
});
