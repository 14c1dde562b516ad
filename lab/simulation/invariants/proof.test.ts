import { expect, test } from '@jest/globals';
import { broken, lease, NEW, node, OTHER, permit, policy, type Said, shadow, STARTS } from './histories.ts';
import { proof } from './proof.ts';

const ONE = policy('all', { proof: { nodes: 1 } });
const drain = { current_state: 'StagedAndPerformedUpdate', drain: { blocked_by: [] } };
const proven = '{"proof":"one"}';
const asked = { boot_id: 'a', version: NEW, requested_at: '2026-03-02T00:00:00Z' };

const follow = (other: Parameters<typeof node>[1], said: Said) => {
  const first = shadow('node-2', { spec: 'RebootedIntoUpdate', ...said });
  const fleet = [ONE, node('node-1'), node('node-2'), lease([OTHER, permit]), shadow('node-1'), shadow('node-2')];
  const update = [shadow('node-2', STARTS), node('node-2', other), first];
  return broken(proof, [...fleet, ...update, shadow('node-1', STARTS)], {}, ['agent-node-2']);
};

test.each([
  ['drains, and may be stuck', { marks: '{}' }, drain, 0],
  ['is drained', { marks: proven }, drain, 1],
  ['is gone in its drain', { marks: '{}', ready: false }, drain, 0],
  ['goes down for the reboot that is on record', { marks: proven, ready: false }, { ...drain, reboot: asked }, 1],
  ['runs it, and says still how its drain went', {}, { ...drain, current_version: NEW }, 1],
  ['has given up', { marks: proven, ready: false }, { ...drain, reboot: asked, current_state: 'ErrorReset' }, 0],
])('nobody follows the one that is to prove a release while that %s', (_, other, status, breaches) => {
  expect(follow(other, { status })).toHaveLength(breaches);
});
