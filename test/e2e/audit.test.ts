import { expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AuditEvent, readAudit, written } from './audit.ts';
import { shared } from '../folder.ts';

const NODE = { kind: 'Node', metadata: { name: 'n1', uid: 'n1', resourceVersion: '10' } };

function event(more: Partial<AuditEvent> = {}): AuditEvent {
  return {
    verb: 'patch',
    user: { username: 'admin' },
    objectRef: { resource: 'nodes', name: 'n1' },
    responseStatus: { code: 200 },
    responseObject: NODE,
    requestReceivedTimestamp: '2026-01-01T00:00:00.240000Z',
    stageTimestamp: '2026-01-01T00:00:00.250000Z',
    ...more,
  };
}

test('a write that was answered shows the state, its author and its time', () => {
  const atMs = Date.parse('2026-01-01T00:00:00.250Z');
  expect(written([event()])).toEqual([{ atMs, object: NODE, gone: false, by: 'admin' }]);
});

test('who writes in the name of another is not the author', () => {
  expect(written([event({ impersonatedUser: { username: 'agent' } })])).toEqual([
    expect.objectContaining({ by: 'agent' }),
  ]);
});

test('refused writes, reads and what is no object of these count for nothing', () => {
  const eviction = { kind: 'Status', metadata: {} };
  const log = [
    event({ responseStatus: { code: 409 } }),
    event({ verb: 'get' }),
    event({ responseObject: eviction }),
    event({ responseObject: undefined }),
  ];
  expect(written(log)).toEqual([]);
});

test.each([
  [0, true],
  [30, false],
])('a deletion with %d seconds of grace: the pod is gone = %p', (deletionGracePeriodSeconds, gone) => {
  const responseObject = { kind: 'Pod', metadata: { name: 'p', uid: 'p', deletionGracePeriodSeconds } };
  expect(written([event({ verb: 'delete', responseObject })])).toEqual([expect.objectContaining({ gone })]);
});

test('a line that is still being written, or that a killed server left half written, is passed over', async () => {
  const file = join(shared, 'audit.log');
  const line = JSON.stringify(event());
  await writeFile(file, `${line.slice(0, 40)}${line}\n${line}\n${line.slice(0, 20)}`);
  expect(await readAudit(file)).toHaveLength(1);
});
