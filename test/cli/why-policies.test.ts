import { afterEach, describe, expect, test } from '@jest/globals';
import type { Inspection } from '../../runtime/cli/inspect.ts';
import { readModel } from '../../runtime/cli/dashboard/model.ts';
import { unknownLines } from '../../runtime/cli/output/output.ts';
import { PLAIN } from '../../runtime/cli/output/terminal.ts';
import { fleetLines, nodeLine, policyLines } from '../../runtime/cli/commands/why.ts';
import { POLICY_CRD_NAME, POLICY_PLURAL } from '../../runtime/api/policy/names.ts';
import { releasesOf } from '../../runtime/api/resources.ts';
import { DAY_MS, rfc3339 } from '../../runtime/lib/clock.ts';
import { HOLD_ANNOTATION, NAMESPACE } from '../../runtime/api/shadow/names.ts';
import { definePolicies } from '../policies.ts';
import { Stage } from '../controller/stage.ts';
import { deploy, seenOn } from './deployed.ts';

let stage: Stage;
afterEach(() => stage.end());
const seen = (): Promise<Inspection> => seenOn(stage);

describe('update policies', () => {
  const POOL = { nodeSelector: { matchLabels: { pool: 'test' } } };
  /** Node a is of the pool, and b is not. */
  async function withPolicy(spec: object = {}): Promise<void> {
    stage = await Stage.with('a', 'b');
    await stage.patchNode('a', { metadata: { labels: { pool: 'test' } } });
    await definePolicies(stage, { test: { ...POOL, ...spec } });
  }

  test('have a line of their own, and the node that one rules names it', async () => {
    await withPolicy({ freezes: [{ from: '2025-12-01T00:00:00Z', to: '2026-01-02T00:00:00Z', reason: 'holidays' }] });
    await deploy(stage);
    const state = 'policy test: 1 nodes, 0 up to date, 0 updating, 1 waiting, 0 failed; ';
    const lines = fleetLines(await seen());
    expect(lines[0]).toContain(state);
    expect(lines[0]).toContain('(next change in 23 h 59 min)');
    expect(lines.find((line) => line.startsWith('a '))).toMatch(/^a +Frozen .*\(policy test, in 23 h 59 min\)$/);
    expect(lines.find((line) => line.startsWith('b '))).toMatch(/^b +Updating .*\(staging\)$/);
    expect([policyLines(await seen(), 'a').length, policyLines(await seen(), 'b').length]).toEqual([1, 0]);
  });

  test('say by how much a release will be late, and which setting keeps it', async () => {
    await withPolicy({ completeWithin: '1h', windows: [{ start: '0 0 1 6 *', duration: '2h' }] });
    await deploy(stage);
    await stage.pass(60_000);
    expect(policyLines(await seen(), 'a')[0]).toMatch(/will be late by \d+ h at least: .* OutsideWindow \(windows\)/);
    const { sections } = await readModel({ transport: stage.transport, namespace: NAMESPACE }, stage.clock.now());
    expect(sections.policies).toContainEqual(
      expect.objectContaining({ name: 'test', late: expect.stringContaining('will be late') }),
    );
  });

  test('count a minimum age from now where the ledger was written by a clock that is ahead, as the controller does', async () => {
    await withPolicy({ version: { minAge: '2h' } });
    await deploy(stage);
    const firstOfferedAt = rfc3339(stage.clock.now() + 365 * DAY_MS);
    await releasesOf(stage.transport).patchStatus('1.1.0.aws-k8s-1.33.amd64', { status: { firstOfferedAt } });
    expect(nodeLine(await seen(), 'a')).toMatch(/^a +TooYoung .*in (1 h 59 min|2 h)/);
  });

  test('pause after an update that failed, and not after one that was called off', async () => {
    await withPolicy({ pauseBetween: '1h' });
    await stage.patchNode('b', { metadata: { labels: { pool: 'test' } } });
    await deploy(stage);
    const line = async (): Promise<string> => nodeLine(await seen(), 'b') ?? '';
    const hold = (value: string | null) =>
      stage.patchNode('a', { metadata: { annotations: { [HOLD_ANNOTATION]: value } } });
    await stage.pass(3_600_000);
    await stage.report('b', { target_version: '1.0.0' });
    await hold('');
    await stage.report('a', { current_state: 'StagedAndPerformedUpdate' });
    await stage.pass();
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass();
    await hold(null);
    await stage.pass();
    expect(await stage.specs('a', 'b')).toEqual(['StagedAndPerformedUpdate 1.1.0', 'Idle']);
    await stage.report('b', { target_version: '1.1.0' });
    const state_transition_failure_timestamp = new Date(stage.clock.now()).toISOString();
    await stage.report('a', { current_state: 'ErrorReset', crash_count: 1, state_transition_failure_timestamp });
    await stage.pass();
    await stage.report('a', { current_state: 'Idle' });
    await stage.pass(1_200_000);
    expect(await stage.spec('b')).toBe('Idle');
    expect(await line()).toMatch(/^b +Pausing .*in (39|40) min/);
  });

  test('that only the controller may not list hold every start, as conditions say', async () => {
    await withPolicy();
    const end = stage.cluster.disturb(
      { verbs: ['list'], resource: POLICY_PLURAL },
      { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'not in this role' },
    );
    await deploy(stage, { MAX_CONCURRENT_UPDATE: '2' });
    await stage.pass(15_000);
    end();
    const message = 'the list of policies is refused: 403 Forbidden: not in this role';
    const lines = fleetLines(await seen());
    expect(lines).toContain(`a  NotCurrent  ${message} (policy test)`);
    expect(lines).toContain(`b  NotCurrent  ${message}`);
  });

  test('that this user may not list are named as not known, and those of a cluster without them are none', async () => {
    await withPolicy();
    await deploy(stage);
    const end = stage.cluster.disturb(
      { verbs: ['list'], resource: POLICY_PLURAL },
      { kind: 'refuse', code: 403, reason: 'Forbidden', message: 'User "ann" cannot list them' },
    );
    expect(unknownLines((await seen()).unknown, PLAIN)).toEqual([
      'not known: update policies, which you may not list (User "ann" cannot list them): none are assumed',
    ]);
    end();
    await stage.delete(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${POLICY_CRD_NAME}`);
    expect(unknownLines((await seen()).unknown, PLAIN)).toEqual([]);
    expect(nodeLine(await seen(), 'a')).not.toContain('policy');
  });
});
