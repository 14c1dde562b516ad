import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RELEASED_ANNOTATION } from '../../runtime/api/marks/names.ts';
import type { Status } from '../../runtime/api/shadow/model.ts';
import { shadowName } from '../../runtime/api/shadow/names.ts';
import type { Free } from '../../runtime/controller/plan/facts/commands.ts';
import type { PermitView } from '../../runtime/controller/plan/facts/permit.ts';
import { mayFree } from '../../runtime/controller/writing/actions/fencing.ts';
import type { ActionPorts } from '../../runtime/controller/writing/actions/ports.ts';
import { Stage } from './stage.ts';

/** Rule L3: what is read once more at the API server before a permit is given back, since caches may show what was before. */

const { signal } = new AbortController();
const shadow = shadowName('a');
let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with('a');
});
afterEach(() => stage.end());

/** @param writes what is known of those to the shadow */
async function isFreed(because: Free['because'], writes: PermitView['writes'] = 'settled'): Promise<boolean> {
  const { uid: nodeUid } = (await stage.nodes.get('a'))!.metadata;
  const ports = { shadows: stage.shadows, nodes: stage.nodes, permitLedger: { permits: [{ nodeUid, writes }] } };
  return mayFree(ports as unknown as ActionPorts, { kind: 'free', shadow, nodeUid, because }, signal);
}
const isTouched = async (): Promise<boolean> =>
  (await stage.nodes.get('a'))!.metadata.annotations?.[RELEASED_ANNOTATION] !== undefined;

const STAGED: Partial<Status> = { current_state: 'StagedAndPerformedUpdate' };
const record = (requested_at: string | null) => ({ boot_id: 'boot-1', version: '1.1.0', requested_at });

describe('the permit of an update that was called off, and whose agent does not say that it is at rest', () => {
  beforeEach(() => stage.report('a', STAGED));

  test.each<[string, Partial<Status>]>([
    ['where nothing was asked of its host', {}],
    ['where its agent has only left a probe', { reboot: record(null) }],
  ])('goes, once its Node was touched, %s', async (_, status) => {
    await stage.report('a', status);
    expect([await isFreed('called-off'), await isTouched()]).toEqual([true, true]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a reboot is asked for by now', () => stage.report('a', { reboot: record('2026-01-01T00:00:00Z') })],
    ['it was started again', () => stage.shadows.patch(shadow, { spec: { state: 'RebootedIntoUpdate' } })],
    ['its Node bears marks', () => stage.mark('a')],
  ])('stays, and its Node is left alone, where %s', async (_, happens) => {
    await happens();
    expect([await isFreed('called-off'), await isTouched()]).toEqual([false, false]);
  });
});

test('the permit of a node whose shadow was gone when it was bumped goes only where that is back, and at rest', async () => {
  expect(await isFreed('idle', 'gone')).toBe(true);
  await stage.report('a', STAGED);
  expect(await isFreed('idle', 'gone')).toBe(false);
  await stage.shadows.delete(shadow, {});
  expect(await isFreed('idle', 'gone')).toBe(false);
});
