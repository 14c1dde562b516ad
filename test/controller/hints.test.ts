import { afterEach, expect, test } from '@jest/globals';
import { conditionUpToDate } from '../../runtime/controller/plan/facts/conditions.ts';
import {
  shadowName,
  STAGE_ANNOTATION,
  UPDATED_FROM_ANNOTATION,
  VERSION_BEFORE_ANNOTATION,
} from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

async function saidOn(name: string, annotation: string): Promise<string | undefined> {
  return (await stage.shadows.get(shadowName(name)))?.metadata.annotations?.[annotation];
}

test('the next node is named its version while another is updated, and no longer once its own update begins', async () => {
  stage = await Stage.with('a', 'b', 'c');
  for (const name of ['a', 'b', 'c']) await stage.report(name, { staged: {} });
  stage.start();
  await stage.pass();
  expect(await stage.specs('a', 'b', 'c')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle', 'Idle']);
  expect(await saidOn('b', STAGE_ANNOTATION)).toMatch(/^1\.1\.0 \d{4}-/);
  await stage.report('b', { staged: { version: '1.1.0', boot_id: 'boot-1' } });
  await stage.update('a');
  expect(await stage.spec('b')).toBe('StagedAndPerformedUpdate 1.1.0');
  expect(await saidOn('b', STAGE_ANNOTATION)).toBeUndefined();
  expect(await saidOn('c', STAGE_ANNOTATION)).toMatch(/^1\.1\.0 /);
});

test('what one controller has named, the next one leaves as it is', async () => {
  stage = await Stage.with('a', 'b');
  for (const name of ['a', 'b']) await stage.report(name, { staged: {} });
  const first = new AbortController();
  stage.start({ signal: first.signal });
  await stage.pass();
  const before = await saidOn('b', STAGE_ANNOTATION);
  first.abort();
  await stage.pass(60_000);
  stage.start();
  await stage.pass(60_000);
  expect([before, await saidOn('b', STAGE_ANNOTATION)]).toEqual([expect.stringMatching(/^1\.1\.0 /), before]);
});

test('a hint that the API server refuses delays no update, and is in no verdict', async () => {
  stage = await Stage.with('a', 'b');
  for (const name of ['a', 'b']) await stage.report(name, { staged: {} });
  const isHint = (body: unknown): boolean =>
    !('spec' in (body as object)) && JSON.stringify(body).includes(STAGE_ANNOTATION);
  stage.cluster.disturb(
    { resource: 'bottlerocketshadows', where: isHint },
    { kind: 'refuse', code: 403, reason: 'Denied', message: 'not on Fridays' },
  );
  stage.start();
  await stage.pass(5000);
  expect(conditionUpToDate((await stage.shadows.get(shadowName('b')))?.status ?? undefined)?.reason).toBe(
    'WaitingForSlot',
  );
  await stage.pass();
  await stage.update('a');
  expect(await stage.spec('b')).toBe('StagedAndPerformedUpdate 1.1.0');
});

test('a node that has completed its update says what it ran before; one that failed still says what it was before that', async () => {
  stage = await Stage.with('a');
  stage.start();
  await stage.pass();
  expect(await saidOn('a', VERSION_BEFORE_ANNOTATION)).toBeUndefined();
  await stage.update('a');
  expect(await saidOn('a', VERSION_BEFORE_ANNOTATION)).toBe('1.0.0');
  await stage.report('a', { current_version: '1.1.0', target_version: '1.2.0' });
  await stage.pass();
  expect(await saidOn('a', UPDATED_FROM_ANNOTATION)).toBe('1.1.0');
  await stage.report('a', { current_state: 'ErrorReset', crash_count: 1 });
  await stage.pass();
  expect(await saidOn('a', VERSION_BEFORE_ANNOTATION)).toBe('1.0.0');
});

test('a node whose update an older controller began does not say what it ran before an earlier one', async () => {
  stage = await Stage.with('a');
  await stage.shadows.patch(shadowName('a'), { metadata: { annotations: { [VERSION_BEFORE_ANNOTATION]: '0.9.0' } } });
  await stage.shadows.patch(shadowName('a'), { spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' } });
  stage.start();
  await stage.pass();
  await stage.update('a');
  expect(await stage.spec('a')).toBe('Idle');
  expect(await saidOn('a', VERSION_BEFORE_ANNOTATION)).toBeUndefined();
});
