import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MARKS_ANNOTATION } from '../../runtime/marks/names.ts';
import { type AuditEvent, mostMarked, nodeWrites, readAudit, stillCordoned } from './audit.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'brupop-audit-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const MARKS = { id: 'i', since: '2026-01-01T00:00:00Z', boot: 'b', owns: ['cordon'] };

/** An answered write of a Node, marked and cordoned or not. */
function wrote(name: string, resourceVersion: number, marked: boolean, more: Partial<AuditEvent> = {}): AuditEvent {
  const annotations = marked ? { [MARKS_ANNOTATION]: JSON.stringify(MARKS) } : {};
  return {
    verb: 'patch',
    objectRef: { resource: 'nodes', name },
    responseStatus: { code: 200 },
    responseObject: {
      metadata: { name, uid: name, resourceVersion: String(resourceVersion), annotations },
      spec: { unschedulable: marked },
    },
    ...more,
  };
}

describe('from the audit log', () => {
  test('two nodes that bear marks at once are seen, in whatever order their writes were logged', () => {
    const log = [wrote('n2', 11, true), wrote('n1', 10, true), wrote('n1', 12, false)];
    expect(mostMarked(nodeWrites(log))).toBe(2);
  });

  test('two nodes that bear marks one after the other are one at a time', () => {
    const log = [wrote('n1', 10, true), wrote('n1', 11, false), wrote('n2', 12, true)];
    expect(mostMarked(nodeWrites(log))).toBe(1);
  });

  test('a node that stays cordoned is seen', () => {
    const log = [wrote('n1', 10, true), wrote('n2', 11, true), wrote('n2', 12, false)];
    expect(stillCordoned(nodeWrites(log))).toEqual(['n1']);
  });

  test('refused writes, reads and writes of a status count for nothing', () => {
    const log = [
      wrote('n1', 10, true, { responseStatus: { code: 409 } }),
      wrote('n1', 10, true, { verb: 'get' }),
      wrote('n1', 10, true, { objectRef: { resource: 'nodes', name: 'n1', subresource: 'status' } }),
    ];
    expect(nodeWrites(log)).toEqual([]);
  });

  test('a line that is still being written is left for later', async () => {
    const file = join(dir, 'audit.log');
    const line = JSON.stringify(wrote('n1', 10, true));
    await writeFile(file, `${line}\n${line.slice(0, 20)}`);
    expect(await readAudit(file)).toHaveLength(1);
  });
});
