import { expect, test } from '@jest/globals';
import { concurrency } from './budget.ts';
import { othersTaints } from './cordons.ts';
import { broken, lease, NEW, node, OTHER, permit, policy, shadow, STARTS } from './histories.ts';
import { obeyed } from './obeyed.ts';
import { after, times } from './order.ts';
import { turns } from './turns.ts';

const POOL = 'example.com/pool';
const MANY = { MAX_CONCURRENT_UPDATE: '5' };

test('no more nodes of a policy start than it lets, nor in more zones', () => {
  const zone = (name: string) => ({ labels: { 'topology.kubernetes.io/zone': name } });
  const start = (spec: object, zoneOfOther: string) => {
    const nodes = [node('node-1', zone('a')), node('node-2', zone(zoneOfOther)), shadow('node-1')];
    return broken(concurrency, [policy('all', spec), ...nodes, lease([OTHER, permit]), shadow('node-1', STARTS)], MANY);
  };
  expect(start({ maxConcurrent: 1 }, 'a')).toHaveLength(1);
  expect(start({ maxConcurrent: 2 }, 'a')).toEqual([]);
  expect(start({ zones: { atOnce: 1 } }, 'b')).toHaveLength(1);
  expect(start({ zones: { atOnce: 2 } }, 'b')).toEqual([]);
  expect(start({ zones: { atOnce: 1 } }, 'a')).toEqual([]);
});

test('a share that a policy lets be busy is of the nodes that it rules', () => {
  const start = (ruled: readonly string[]) => {
    const pool = (name: string) => ({ labels: { [POOL]: ruled.includes(name) ? 'test' : 'other' } });
    const half = policy('all', { maxConcurrent: '50%', nodeSelector: { matchLabels: { [POOL]: 'test' } } });
    const nodes = ['node-1', 'node-2', 'node-3', 'node-4'].map((name) => node(name, pool(name)));
    return broken(
      concurrency,
      [half, ...nodes, shadow('node-1'), lease([OTHER, permit]), shadow('node-1', STARTS)],
      MANY,
    );
  };
  expect(start(['node-1', 'node-2'])).toHaveLength(1);
  expect(start(['node-1', 'node-2', 'node-3', 'node-4'])).toEqual([]);
});

test('a release starts after another policy once a node of that has run it', () => {
  const first = policy('test', { nodeSelector: { matchLabels: { [POOL]: 'test' } } });
  const policies = [first, policy('all', { after: ['policy-test'], priority: -1 })];
  const tested = (version: string) => node('node-1', { version, labels: { [POOL]: 'test' } });
  const start = (version: string) => [
    ...policies,
    tested(version),
    node('node-2'),
    shadow('node-2'),
    shadow('node-2', STARTS),
  ];
  expect(broken(after, start('1.38.0'))).toHaveLength(1);
  expect(broken(after, start(NEW))).toEqual([]);
  expect(broken(after, start('1.40.0'))).toEqual([]);
});

test('a policy says of a release what it has once said of it', () => {
  const said = (release: object) => policy('all', {}, { releases: [{ version: NEW, family: 'any', ...release }] });
  const [first, later] = [{ completedAt: '2026-03-02T00:00:00Z' }, { completedAt: '2026-03-02T00:10:00Z' }];
  expect(broken(times, [said(first), said(first)])).toEqual([]);
  expect(broken(times, [said({}), said(first)])).toEqual([]);
  expect(broken(times, [said(first), said(later)])).toHaveLength(1);
  expect(broken(times, [said(first), said({})])).toHaveLength(1);
});

test('taints of others stay', () => {
  const ours = 'brupop.bottlerocket.aws/waiting';
  const write = (taints: readonly string[]) => [
    node('node-1', { taints: ['theirs', ours] }),
    node('node-1', { taints }),
  ];
  expect(broken(othersTaints, write(['theirs']))).toEqual([]);
  expect(broken(othersTaints, write([ours]))).toHaveLength(1);
});

test('a node is left alone for a while after its last update', () => {
  const start = (finished: string) => [
    policy('all', { minInterval: '45m' }),
    node('node-1'),
    shadow('node-1', { finished }),
    shadow('node-1', { ...STARTS, finished }),
  ];
  expect(broken(obeyed, start('2026-03-02T00:00:00Z'))).toHaveLength(1);
  expect(broken(obeyed, start('2026-03-01T23:00:00Z'))).toEqual([]);
});

test('a node that has failed pauses, unless somebody names that failure', () => {
  const status = { crash_count: 4, failed_versions: [NEW], state_transition_failure_timestamp: '2026-03-02T00:00:00Z' };
  const start = (retry: string) => [
    node('node-1', { retry }),
    shadow('node-1', { status }),
    shadow('node-1', { ...STARTS, status }),
  ];
  expect(broken(obeyed, start('2026-03-01T00:00:00Z'))).toHaveLength(1);
  expect(broken(obeyed, start(status.state_transition_failure_timestamp))).toEqual([]);
});

test('what is wanted of a host changes at rest, under no pause', () => {
  const wish = { version_lock: NEW };
  const changed = (spec: object, said: object = {}) => [
    policy('all', spec),
    node('node-1'),
    shadow('node-1', said),
    shadow('node-1', { ...said, wish }),
  ];
  expect(broken(obeyed, changed({}))).toEqual([]);
  expect(broken(obeyed, changed({ paused: true }))).toHaveLength(1);
  expect(broken(obeyed, changed({}, STARTS))).toHaveLength(1);
});

test('who has failed more often starts after one that waits for a place, unless that gets one with it, or it takes none besides its own', () => {
  const waiting = (name: string, crashes: number, said: object = {}) => {
    const conditions = [{ type: 'UpToDate', status: 'False', reason: 'WaitingForSlot' }];
    return shadow(name, { ...said, status: { crash_count: crashes, conditions } });
  };
  const fleet = [node('node-1'), node('node-2'), waiting('node-1', 2), waiting('node-2', 1)];
  const later = { byOthers: node('node-3') };
  const start = (name: string, crashes: number) => waiting(name, crashes, STARTS);
  expect(broken(turns, [...fleet, later, start('node-1', 2), shadow('node-3')])).toHaveLength(1);
  expect(broken(turns, [...fleet, later, start('node-2', 1), shadow('node-3')])).toEqual([]);
  expect(broken(turns, [...fleet, later, start('node-1', 2), lease([permit, OTHER]), shadow('node-3')])).toEqual([]);
  const isOut = node('node-1', { cordoned: true });
  expect(broken(turns, [...fleet, isOut, later, start('node-1', 2), shadow('node-3')])).toEqual([]);
});
