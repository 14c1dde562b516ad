import { expect, test } from '@jest/globals';
import { drainsKept } from './cordons.ts';
import { broken, NEW, node, OLD, shadow } from './histories.ts';
import { settled } from './settled.ts';

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

const missing = ['ReplicaSet shop/web: 1 of 2'];
const LOOKED_AT = '2026-03-02T00:01:00Z';

test.each([
  ['is missing', { looked_at: LOOKED_AT, missing }, '1200', 1],
  ['is missing for longer than it is waited for', { looked_at: LOOKED_AT, missing }, '300', 0],
  ['runs again', { looked_at: LOOKED_AT, missing: [] }, '1200', 0],
  ['may be missing, and nobody has looked', { missing }, '1200', 0],
])(
  'an update is complete ten minutes after its node is back, and what its drain has moved %s',
  (_, displaced, settle, breaches) => {
    const monitors = shadow('node-1', { spec: 'MonitoringUpdate', reached: 'MonitoringUpdate', status: { displaced } });
    const complete = shadow('node-1', { finished: '2026-03-02T00:10:00Z', status: { displaced } });
    expect(broken(settled, [node('node-1'), monitors, complete], { SETTLE_TIME_IN_SEC: settle })).toHaveLength(
      breaches,
    );
  },
);
