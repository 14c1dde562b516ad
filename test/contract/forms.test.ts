import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { at, fields, list } from '../../lab/sim/cluster/object.ts';
import { exchange } from '../e2e/controlplane/exchange.ts';
import { type Contract, contract } from './cluster.ts';

let cluster: Contract;
let secrets: string;
beforeAll(async () => {
  cluster = await contract();
  secrets = `/api/v1/namespaces/${await cluster.namespace()}/secrets`;
  await cluster.admin.create(secrets, { metadata: { name: 's', labels: { a: 'b' } }, stringData: { a: '1', b: '2' } });
});
afterAll(() => cluster.stop());

const as = (kind: string): string => `application/json;as=${kind};v=v1;g=meta.k8s.io`;

interface Shown {
  readonly status: number;
  /** The lines of the answer: of a watch its events. */
  readonly lines: readonly unknown[];
}

async function shown(path: string, accept: string): Promise<Shown> {
  const { status, text } = await exchange(cluster.access, { path, headers: { accept } });
  const whole = path.includes('watch=1') ? text.trimEnd().split('\n') : [text];
  return { status, lines: whole.map((line) => JSON.parse(line) as unknown) };
}

async function one(path: string, accept: string): Promise<unknown> {
  return (await shown(path, accept)).lines[0];
}

const WATCH = '?watch=1&timeoutSeconds=1&allowWatchBookmarks=true';
const INITIAL = `${WATCH}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`;

describe('a table', () => {
  test.each([
    ['/api/v1/nodes', ['Name', 'Status', 'Roles', 'Age', 'Version']],
    ['/api/v1/pods', ['Name', 'Ready', 'Status', 'Restarts', 'Age']],
    ['/api/v1/serviceaccounts', ['Name', 'Age']],
  ])('of %s has its columns', async (path, expected) => {
    const columns = list(at(await one(path, as('Table')), 'columnDefinitions')).map(fields);
    expect(columns.filter(({ priority }) => priority === 0).map(({ name }) => name)).toEqual(expected);
  });

  test('has a row for each object, with its metadata', async () => {
    expect(await one(secrets, as('Table'))).toMatchObject({
      kind: 'Table',
      metadata: { resourceVersion: expect.any(String) },
      rows: [{ cells: expect.arrayContaining(['s']), object: { metadata: { name: 's' } } }],
    });
    expect(await one(`${secrets}/s`, as('Table'))).toMatchObject({
      kind: 'Table',
      rows: [{ cells: expect.arrayContaining(['s']) }],
    });
  });

  test('in a watch has its columns in the first event alone, and a bookmark is one too', async () => {
    const { lines } = await shown(`${secrets}${INITIAL}`, as('Table'));
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

describe('metadata alone', () => {
  const partial = {
    kind: 'PartialObjectMetadata',
    apiVersion: 'meta.k8s.io/v1',
    metadata: { name: 's', labels: { a: 'b' } },
  };

  test('is what a list, an object and a watch are made of', async () => {
    const listed = await one(secrets, as('PartialObjectMetadataList'));
    expect(listed).toMatchObject({ kind: 'PartialObjectMetadataList', items: [partial] });
    expect(list(at(listed, 'items'))[0]).not.toHaveProperty('data');
    expect(await one(`${secrets}/s`, as('PartialObjectMetadata'))).toMatchObject(partial);
    const { lines } = await shown(`${secrets}${WATCH}`, as('PartialObjectMetadata'));
    expect(lines[0]).toMatchObject({ type: 'ADDED', object: partial });
  });
});

test.each([
  ['a list as one object', '', as('PartialObjectMetadata')],
  ['an object as a list', '/s', `${as('PartialObjectMetadataList')},application/json`],
  ['a form that is none', '', as('Foo')],
  ['a table of another version', '', 'application/json;as=Table;v=v2;g=meta.k8s.io'],
  ['plain text', '', 'text/plain'],
])('%s is not acceptable', async (_, path, accept) => {
  const { status, lines } = await shown(`${secrets}${path}`, accept);
  expect([status, at(lines[0], 'reason')]).toEqual([406, 'NotAcceptable']);
});

test('what is asked for in a form that is none, or else plain, is plain', async () => {
  expect(await one(secrets, `${as('Foo')},application/json`)).toMatchObject({ kind: 'SecretList' });
});
