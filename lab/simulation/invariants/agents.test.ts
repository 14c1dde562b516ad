import { expect, test } from '@jest/globals';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Entry } from '../types.ts';
import { MINUTE } from '../units.ts';
import { blame } from './blame.ts';
import { broken, NEW, node, OLD, RESOURCES, SCENARIO, shadow, STARTS } from './histories.ts';
import { looks } from './looks.ts';
import { obeyed } from './obeyed.ts';
import { Picture } from './picture.ts';
import { proof } from './proof.ts';
import { reduced } from './reduced.ts';
import type { Rule } from './rule.ts';
import { told } from './told.ts';
import { turns } from './turns.ts';

const written = (after: KubeObject, at: number): Entry => {
  const { name } = after.metadata;
  return { kind: 'write', at, sentAt: at, by: 'controller-0', resource: RESOURCES[name.slice(0, 4)]!, name, after };
};
const runs = (of: string): Entry => ({ kind: 'process', process: `agent-${of}`, event: 'starts', at: 0 });

/** What the last of these entries breaks. */
function breaks(rule: Rule, history: readonly Entry[]): readonly string[] {
  const picture = new Picture(SCENARIO);
  const judge = rule.begin(picture, SCENARIO);
  const all = history.map((entry) => {
    picture.see(entry);
    return judge.see?.(entry) ?? [];
  });
  return all.at(-1) ?? [];
}

const FAILED = { state_transition_failure_timestamp: '2026-03-01T00:00:00Z' };

test.each([
  ['what its host offers', {}, 0],
  ['what its host does not offer any more', { target_version: OLD }, 1],
  ['what it has left unasked', { ...FAILED, last_failure: { reason: 'Reverted', version: NEW } }, 1],
  ['another than it has left unasked', { last_failure: { reason: 'Reverted', version: '1.38.5' } }, 0],
])('a node starts on %s', (_, status, count) => {
  const history = [node('node-1'), shadow('node-1', { status }), shadow('node-1', { ...STARTS, status })];
  expect(broken(obeyed, history)).toHaveLength(count);
});

test.each([
  ['another is on its way to it', {}, 1],
  ['another on its way has failed on it before', { status: { failed_versions: [NEW] } }, 0],
  ['another is well on it', { spec: 'Idle', status: { current_version: NEW } }, 0],
])('a node starts on a release that nobody has proven while %s', (_, other, count) => {
  const begin = [node('node-1'), node('node-2'), shadow('node-1'), shadow('node-2')].map((one) => written(one, 0));
  const second = written(shadow('node-2', { ...STARTS, ...other }), 1);
  const first = written(shadow('node-1', STARTS), 10 * MINUTE);
  expect(breaks(proof, [runs('node-1'), runs('node-2'), ...begin, second, first])).toHaveLength(count);
});

test('a node says what it has failed on until it runs that', () => {
  const history = [node('node-1'), shadow('node-1', { status: { failed_versions: [NEW] } })];
  expect(broken(blame, [...history, shadow('node-1')])).toHaveLength(1);
  expect(broken(blame, [...history, shadow('node-1', { status: { current_version: NEW } })])).toEqual([]);
});

const called = (path: string, at: number): Entry => ({
  kind: 'host',
  node: 'node-1',
  at,
  event: { kind: 'call', method: 'POST', path: `/actions/${path}`, status: 204 },
});
const up = (version: string, at: number): Entry => ({
  kind: 'host',
  node: 'node-1',
  at,
  event: { kind: 'up', bootId: `boot of ${at}`, version },
});
const OWN = shadow('node-1', STARTS);
const NOBODYS = { ...OWN, metadata: { ...OWN.metadata, ownerReferences: [] } };

test.each([
  ['says so', [OWN], 0],
  ['says nothing', [shadow('node-1')], 1],
  ['was its own until two minutes ago', [OWN, NOBODYS], 1],
])('an agent has its host prepare an update while its shadow %s', (_, shadows, count) => {
  const history = [written(node('node-1'), 0), ...shadows.map((one, index) => written(one, index))];
  expect(breaks(told, [...history, called('prepare-update', 2 * MINUTE)])).toHaveLength(count);
});

const REBOOTS = shadow('node-1', { spec: 'RebootedIntoUpdate' });

test.each([
  ['is wanted to reboot', [OWN, REBOOTS], 0],
  ['is only wanted to have it staged', [OWN], 1],
  ['came to rest', [OWN, REBOOTS, shadow('node-1')], 1],
])('an agent reboots its host while its shadow %s', (_, shadows, count) => {
  const history = [written(node('node-1'), 0), ...shadows.map((one, index) => written(one, index))];
  expect(breaks(told, [...history, called('activate-update', 2 * MINUTE)])).toHaveLength(count);
  expect(breaks(told, [...history, called('reboot', 2 * MINUTE)])).toHaveLength(count);
});

test('a host boots what its shadow had named before somebody deleted that', () => {
  const { name } = OWN.metadata;
  const about = { kind: 'write', at: 1, sentAt: 1, by: 'person', resource: 'bottlerocketshadows', name } as const;
  const begin = [up(OLD, 0), written(node('node-1'), 0), written(OWN, 1), { ...about, before: OWN }];
  const down: Entry = { kind: 'host', node: 'node-1', at: 3, event: { kind: 'down', asked: true } };
  expect(breaks(told, [...begin, called('reboot', 2), down, up(NEW, MINUTE)])).toEqual([]);
});

test.each([
  [NEW, 0],
  [OLD, 0],
  ['1.37.0', 1],
])('a host that was asked to reboot boots %s', (version, count) => {
  const begin = [up(OLD, 0), written(node('node-1'), 0), written(OWN, 1), called('reboot', 2)];
  const down: Entry = { kind: 'host', node: 'node-1', at: 3, event: { kind: 'down', asked: true } };
  expect(breaks(told, [...begin, down, up(version, MINUTE)])).toHaveLength(count);
});

test.each([
  ['for two minutes', [0], [], 0],
  ['for a minute', [MINUTE], [], 1],
  ['until it was taken', [0], [1], 1],
  ['never', [], [], 1],
])('an agent does not say why it has failed, and that was refused %s', (_, refusedAt, takenAt, count) => {
  const status = { last_failure: { reason: 'Reverted', version: NEW } };
  const byApiserver = { by: 'apiserver-0', subresource: 'status' };
  const taken = takenAt.map((at) => ({ ...written(shadow('node-1', { status }), at), ...byApiserver }));
  const refused = refusedAt.map((at): Entry => {
    const about = { resource: 'bottlerocketshadows', name: 'brs-node-1', subresource: 'status' };
    return { kind: 'request', at, by: 'apiserver-0', verb: 'update', ...about, code: 403, isVain: false };
  });
  const body = JSON.stringify({ current_state: 'ErrorReset' });
  const [at, by, of] = [2 * MINUTE, 'agent-node-1', 'node-1'];
  const asked: Entry = { kind: 'asked', at, by, node: of, to: 'apiserver-0', path: '/', body, acted: '1' };
  expect(breaks(reduced, [written(node(of), 0), written(OWN, 0), ...refused, ...taken, asked])).toHaveLength(count);
});

test.each([
  ['was read', 'get', 200, 1],
  ['was refused', 'patch', 503, 0],
  ['could not be read', 'get', 503, 0],
  ['could not be listed', 'list', 503, 1],
  ['had changed', 'patch', 409, 1],
])(
  'one that has failed more often starts five minutes after the shadow of one that waits %s',
  (_, verb, code, count) => {
    const conditions = [{ type: 'UpToDate', status: 'False', reason: 'WaitingForSlot' }];
    const waits = (of: string, crash_count: number, said: object = {}) =>
      shadow(of, { ...said, status: { crash_count, conditions } });
    const begin = [node('node-1'), node('node-2'), waits('node-1', 2), waits('node-2', 1)].map((one) =>
      written(one, 0),
    );
    const about = { resource: 'bottlerocketshadows', name: 'brs-node-2', isVain: false } as const;
    const request: Entry = { kind: 'request', at: 5 * MINUTE, by: 'controller-0', verb, code, ...about };
    const start = { ...written(waits('node-1', 2, STARTS), 10 * MINUTE), before: waits('node-1', 2) } as Entry;
    const later = { ...written(shadow('node-3'), 11 * MINUTE), by: 'person' } as Entry;
    expect(breaks(turns, [...begin, request, start, later])).toHaveLength(count);
  },
);

const THERE = written(node('node-1'), 0);
const noted = (at: number): Entry => written(node('node-2'), at);
const activation = (on: boolean): Entry => ({ kind: 'host', node: 'node-1', at: 2, event: { kind: 'activation', on } });

test.each([
  ['what it is not to boot', true, 1],
  ['what it runs', false, 0],
])('a host whose node is at rest boots next, for a quarter of an hour, %s', (_, on, count) => {
  const history = [runs('node-1'), THERE, written(shadow('node-1'), 1), activation(true), activation(on)];
  expect(breaks(looks, [...history, noted(3), noted(MINUTE), noted(17 * MINUTE)])).toHaveLength(count);
});
