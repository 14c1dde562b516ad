import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { at, fields, list } from '../../lab/sim/cluster/object.ts';
import { exchange } from '../e2e/controlplane/exchange.ts';
import { type Contract, contract } from './cluster.ts';

let cluster: Contract;
let secrets: string;
beforeAll(async () => {
  cluster = await contract();
  secrets = `/api/v1/namespaces/${await cluster.namespace()}/secrets`;
  await cluster.admin.create(secrets, { metadata: { name: 's' }, data: { a: 'MQ==', b: 'Mg==' } });
});
afterAll(() => cluster.stop());

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** The lines of the answer: of a watch its events. */
async function shown(path: string): Promise<readonly unknown[]> {
  const { text } = await exchange(cluster.access, { path, headers: { accept: TABLE } });
  const whole = path.includes('watch=1') ? text.trimEnd().split('\n') : [text];
  return whole.map((line) => JSON.parse(line) as unknown);
}

async function one(path: string): Promise<unknown> {
  return (await shown(path))[0];
}

const WATCH = '?watch=1&timeoutSeconds=1&allowWatchBookmarks=true';
const INITIAL = `${WATCH}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;

describe('a table', () => {
  test.each([
    ['/api/v1/nodes', ['Name', 'Status', 'Roles', 'Age', 'Version']],
    ['/api/v1/pods', ['Name', 'Ready', 'Status', 'Restarts', 'Age']],
    ['/api/v1/serviceaccounts', ['Name', 'Age']],
  ])('of %s has its columns', async (path, expected) => {
    const columns = list(at(await one(path), 'columnDefinitions')).map(fields);
    expect(columns.filter(({ priority }) => priority === 0).map(({ name }) => name)).toEqual(expected);
  });

  test('has a row for each object, with its metadata', async () => {
    expect(await one(secrets)).toMatchObject({
      kind: 'Table',
      metadata: { resourceVersion: expect.any(String) },
      rows: [{ cells: expect.arrayContaining(['s']), object: { metadata: { name: 's' } } }],
    });
    expect(await one(`${secrets}/s`)).toMatchObject({
      kind: 'Table',
      rows: [{ cells: expect.arrayContaining(['s']) }],
    });
  });

  test('in a watch has its columns in the first event alone, and a bookmark is one too', async () => {
    const lines = await shown(`${secrets}${INITIAL}`);
    const end = { 'k8s.io/initial-events-end': 'true' };
    expect(lines.slice(0, 2)).toMatchObject([
      {
        type: 'ADDED',
        object: {
          kind: 'Table',
          columnDefinitions: expect.any(Array),
          rows: [{ cells: expect.arrayContaining(['s']) }],
        },
      },
      {
        type: 'BOOKMARK',
        object: { kind: 'Table', columnDefinitions: null, rows: [{ object: { metadata: { annotations: end } } }] },
      },
    ]);
  });
});
