import { expect, test } from '@jest/globals';
import { drainsKept } from './cordons.ts';
import { broken, NEW, node, OLD, shadow } from './histories.ts';

const DRAINED = node('node-1', { marks: '{"id":"this drain","owns":["cordon"]}', cordoned: true });
const ASKED = shadow('node-1', { spec: 'RebootedIntoUpdate', reached: 'StagedAndPerformedUpdate' });
const givenBack = (version: string) => ({ byApiserver: node('node-1', { version }) });

test('an apiserver gives no node back that is to reboot into another version than it runs', () => {
  expect(broken(drainsKept, [node('node-1'), ASKED, DRAINED, givenBack(OLD)])).toEqual([
    expect.stringContaining(`gave node-1 back, which runs ${OLD}`),
  ]);
});

test.each([
  ['it runs the version', [node('node-1'), ASKED, node('node-1', { version: NEW, marks: '{}', cordoned: true })], NEW],
  ['the update is over', [node('node-1'), ASKED, DRAINED, shadow('node-1')], OLD],
  ['that was asked for after the Node was read', [node('node-1'), DRAINED, ASKED], OLD],
])('an apiserver gives a node back where %s', (_, before, version) => {
  expect(broken(drainsKept, [...before, givenBack(version)])).toEqual([]);
});
