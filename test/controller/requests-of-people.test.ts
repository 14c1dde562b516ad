import { afterEach, expect, test } from '@jest/globals';
import { UPDATE_NOW_ANNOTATION, RETRY_ANNOTATION } from '../../runtime/api/shadow/names.ts';
import { Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.end());

const annotate = (node: string, annotations: object): Promise<void> =>
  stage.patchNode(node, { metadata: { annotations } });

const annotationsOf = async (node: string): Promise<object> =>
  (await stage.nodes.get(node))!.metadata.annotations ?? {};

test('a node that somebody asks for starts outside of the window; an Event says who, and the annotation goes', async () => {
  stage = await Stage.with('a', 'b');
  stage.start({ env: { SCHEDULER_CRON_EXPRESSION: '* * 2 * * * *' } });
  await stage.pass();
  await annotate('b', { [UPDATE_NOW_ANNOTATION]: `ann, for the audit${'!'.repeat(500)}` });
  await stage.pass(2000);
  expect(await stage.specs('a', 'b')).toEqual(['Idle', 'StagedAndPerformedUpdate 1.1.0']);
  const said = (await stage.told()).find(({ reason }) => reason === 'UpdateStarted')?.message ?? '';
  expect(said).toMatch(/^update from 1\.0\.0 to 1\.1\.0 started, asked for by ann, for the audit!+…$/);
  expect(said.length).toBeLessThan(250);
  expect(await annotationsOf('b')).not.toHaveProperty([UPDATE_NOW_ANNOTATION]);
});

test('a pause that somebody ends is over once: the next failure has one of its own', async () => {
  stage = await Stage.with('a');
  stage.start();
  await stage.pass();
  const fail = async (crash_count: number): Promise<string> => {
    const state_transition_failure_timestamp = new Date(stage.clock.now()).toISOString();
    await stage.report('a', { current_state: 'ErrorReset', crash_count, state_transition_failure_timestamp });
    await stage.pass();
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(5000);
    return state_transition_failure_timestamp;
  };
  const at = await fail(5);
  expect(await stage.spec('a')).toMatch(/^Idle/);
  // Nobody can take it away: a webhook refuses that for good.
  const removals = (body: unknown): boolean => JSON.stringify(body).includes(`"${RETRY_ANNOTATION}":null`);
  stage.cluster.disturb({ resource: 'nodes', where: removals }, { kind: 'refuse', code: 403, reason: 'Forbidden' });
  await annotate('a', { [RETRY_ANNOTATION]: at });
  await stage.pass(2000);
  expect(await stage.spec('a')).toBe('StagedAndPerformedUpdate 1.1.0');
  await stage.pass(60_000);
  await fail(6);
  expect(await annotationsOf('a')).toHaveProperty([RETRY_ANNOTATION]);
  expect(await stage.spec('a')).toMatch(/^Idle/);
});
