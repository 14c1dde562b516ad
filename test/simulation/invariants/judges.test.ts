import { expect, test } from '@jest/globals';
import { conversion, noFailures, ownStatus } from './authority.ts';
import { blame } from './blame.ts';
import { concurrency, outOfService } from './budget.ts';
import { administratorsCordons, nothingLeft } from './cordons.ts';
import { current } from './current.ts';
import { budgets, drainedBeforeReboot, recordBeforeReboot, volumes } from './drains.ts';
import { RULES } from './index.ts';
import { leadership } from './leadership.ts';
import { liveness } from './liveness.ts';
import { AGENT, load } from './load.ts';
import { obeyed } from './obeyed.ts';
import { permits } from './permits.ts';
import { reach } from './reach.ts';
import { atRest } from './rest.ts';
import type { Rule } from './rule.ts';
import { MARKED, PROVEN, Story, timeAt } from './story.ts';
import { lastLook, swaps } from './swaps.ts';

/** Whether each judge sees what it is there for. That it sees nothing else, storms show, and what it misses, planted bugs. */

const APISERVER = { by: 'apiserver-0' };
const PERSON = { by: 'person' };
const START = { state: 'StagedAndPerformedUpdate', version: '1.1.0' };
const CORDONED = { cordoned: true, marks: MARKED };
const DOWN = { kind: 'down', asked: true } as const;
const NOW = timeAt(0);
const REQUEST = {
  kind: 'request',
  by: 'apiserver-0',
  verb: 'patch',
  resource: 'nodes',
  name: 'n1',
  code: 200,
} as const;
const WEB = { node: 'n1', labels: { app: 'web' } };
const V1_DATA = { 'brupop.bottlerocket.aws/conversion-data': '{}' };
const BAD = [
  { version: '1.0.0', from: 0 },
  { version: '1.1.0', from: 0, bad: 'does-not-boot' },
] as const;

type Tell = (story: Story) => Story;

const drained: Tell = (story) =>
  story.after(10).node('n1', CORDONED, APISERVER).after(5).node('n1', { marks: PROVEN }, APISERVER);
const calm: Tell = (story) => story.process('controller-0', 'starts').calm();
const late: Tell = (story) => story.after(300).end();

const FINDS: readonly (readonly [Rule, string, Tell])[] = [
  [concurrency, 'two nodes that start where one may', (story) => story.start('n1').start('n2')],
  [
    outOfService,
    'a node that is cordoned while another is down for us',
    (story) => story.host('n1', DOWN).node('n2', CORDONED, APISERVER),
  ],
  [permits, 'a start of a node that the Lease does not name', (story) => story.shadow('n1', START)],
  [permits, 'marks on one', (story) => story.node('n1', CORDONED, APISERVER)],
  [permits, 'a reboot of one', (story) => story.call('n1', 'reboot')],
  [drainedBeforeReboot, 'a reboot without a proof', (story) => story.call('n1', 'reboot')],
  [
    drainedBeforeReboot,
    'a reboot after the marks are gone',
    (story) => drained(story).node('n1', { marks: null }, APISERVER).call('n1', 'reboot'),
  ],
  [
    drainedBeforeReboot,
    'a reboot under a pod that was there before the proof',
    (story) => drained(story.pod('web', WEB)).call('n1', 'reboot'),
  ],
  [recordBeforeReboot, 'a reboot without a record', (story) => story.call('n1', 'reboot')],
  [budgets, 'a pod that is deleted, and not evicted', (story) => story.pod('web', WEB).podGone('web', APISERVER)],
  [
    budgets,
    'an eviction that no budget was charged with',
    (story) =>
      story
        .budget('web', 1)
        .pod('web', WEB)
        .podGone('web', { ...APISERVER, subresource: 'eviction' }),
  ],
  [volumes, 'a proof with a volume in use', (story) => drained(story.node('n1', { volumesInUse: ['v'] }))],
  [
    administratorsCordons,
    "an administrator's cordon that the operator lifts",
    (story) => story.node('n1', { cordoned: true }, PERSON).node('n1', { cordoned: false }, APISERVER),
  ],
  [
    administratorsCordons,
    'the cordon of a node that is held',
    (story) =>
      story
        .node('n1', CORDONED, APISERVER)
        .node('n1', { held: true }, PERSON)
        .node('n1', { cordoned: false, marks: null }, APISERVER),
  ],
  [
    nothingLeft,
    'a release that leaves the cordon',
    (story) => story.node('n1', CORDONED, APISERVER).node('n1', { marks: null }, APISERVER),
  ],
  ...(
    [
      ['under a pause', (story) => story.pause()],
      ['of a node that is held', (story) => story.node('n1', { held: true }, PERSON)],
      ['of a node that is not Ready', (story) => story.node('n1', { ready: false })],
      ['of a release that a person has halted', (story) => story.halt('1.1.0')],
      ['under a policy that is paused', (story) => story.policy('p', { nodeSelector: {}, paused: true })],
      ['under one that cannot be obeyed', (story) => story.policy('p', { nodeSelector: {}, after: ['p'] })],
      ['under two', (story) => story.policy('p', { nodeSelector: {} }).policy('q', { nodeSelector: {} })],
      ['in a freeze', (story) => story.policy('p', { nodeSelector: {}, freezes: [{ from: NOW, to: timeAt(60) }] })],
    ] satisfies [string, Tell][]
  ).map(([what, say]): [Rule, string, Tell] => [obeyed, `a start ${what}`, (story) => say(story).after(2).start('n1')]),
  [
    obeyed,
    'a drain that begins under a pause, in which nobody saw anything for five minutes',
    (story) =>
      story
        .start('n1')
        .tell({ kind: 'fault', id: 1, name: 'watch-mute', about: 'controller-0', phase: 'begins' })
        .pause()
        .after(5)
        .shadow('n1', { state: 'RebootedIntoUpdate' }),
  ],
  [
    current,
    'a start by a process that may not read Nodes',
    (story) =>
      story
        .tell({ ...REQUEST, by: 'controller-0', verb: 'list', code: 403, isVain: false })
        .after(5)
        .start('n1'),
  ],
  [swaps, 'a write that does not say on what it was decided', (story) => story.tell({ ...REQUEST, isVain: false })],
  [swaps, 'one that changes nothing', (story) => story.tell({ ...REQUEST, version: '7', isVain: true })],
  [
    lastLook,
    'a proof on a Node that has changed since its pods were listed',
    (story) => drained(story.tell({ ...REQUEST, verb: 'list', resource: 'pods', name: undefined, isVain: false })),
  ],
  [leadership, 'slots that one writes who does not lead', (story) => story.lease('me', []).lease('other', ['n1'])],
  [leadership, 'a spec by one whose term is over', (story) => story.lease('me', []).after(1).shadow('n1', START)],
  [leadership, 'a spec by an apiserver', (story) => story.shadow('n1', START, APISERVER)],
  [
    ownStatus,
    'a status that no agent has sent',
    (story) => story.shadow('n1', { status: { crash_count: 1 } }, APISERVER),
  ],
  [ownStatus, 'an agent that writes', (story) => story.node('n1', CORDONED, { by: 'agent-n1' })],
  [
    conversion,
    'a shadow that is stored as it is given out as v1',
    (story) =>
      story.write('bottlerocketshadows', 'brs-n1', {
        object: { metadata: { name: 'brs-n1', uid: 'u', resourceVersion: '1', annotations: V1_DATA } },
        sending: PERSON,
      }),
  ],
  [
    reach,
    'a second node that goes down for a bad release',
    (story) => story.start('n1').host('n1', DOWN).start('n2').host('n2', DOWN),
  ],
  [
    blame,
    'a release that is blamed for a boot that it never had',
    (story) =>
      story
        .start('n1')
        .shadow('n1', { status: { failed_versions: ['1.1.0'], last_failure: { reason: 'BootFailed' } } }, APISERVER),
  ],
  [
    load,
    'more requests in ten minutes than a process ever needs',
    (story) =>
      story.tell({ kind: 'sent', by: 'agent-n1', to: 'api', node: undefined, ofPods: false, count: AGENT.own }),
  ],
  [noFailures, 'a process that fails', (story) => story.process('agent-n1', 'failed')],
  [atRest, 'marks of a node at rest', (story) => late(calm(story.node('n1', CORDONED, APISERVER)))],
  [
    atRest,
    'a cordon of ours of which no marks tell',
    (story) => late(calm(story.node('n1', CORDONED, APISERVER).node('n1', { marks: null }, APISERVER))),
  ],
  [atRest, 'a slot of a node at rest', (story) => late(calm(story.slots('n1')))],
  [atRest, 'a shadow of no node', (story) => late(calm(story.nodeGone('n1')))],
  [liveness, 'a node that waits for nothing', (story) => late(calm(story).shadow('n1', { verdict: 'Paused' }))],
  [liveness, 'an update that hangs', (story) => late(calm(story).start('n1'))],
  [liveness, 'a node that is down, of which nobody is told', (story) => late(calm(story).node('n1', { ready: false }))],
];

test.each(FINDS.map(([rule, what, tell]) => [rule.name, what, rule, tell] as const))('%s: %s', (_, __, rule, tell) => {
  const controller = { MAX_FAILED_UPDATE: '1' };
  expect(tell(new Story([rule], { controller, releases: BAD }).fleet('n1', 'n2')).breaches).not.toEqual([]);
});

test('every judge has seen something', () => {
  expect(RULES.filter((rule) => !FINDS.some(([other]) => other === rule)).map(({ name }) => name)).toEqual([]);
});

test('an update as it should be breaks no rule', () => {
  const record = { boot_id: 'boot of n1', version: '1.1.0', requested_at: NOW };
  const story = new Story(RULES).fleet('n1').process('controller-0', 'starts').lease('me', []).start('n1');
  const said = (status: object): Story =>
    story
      .tell({ kind: 'asked', by: 'agent-n1', node: 'n1', to: 'apiserver-0', path: '/', body: JSON.stringify(status) })
      .shadow('n1', { status }, APISERVER);
  said({ current_state: 'StagedAndPerformedUpdate', current_version: '1.0.0', crash_count: 0 });
  story.lease('me', ['n1']).shadow('n1', { state: 'RebootedIntoUpdate' }).node('n1', CORDONED, APISERVER);
  story.tell({ ...REQUEST, verb: 'get', shown: '9', isVain: false });
  story.tell({ ...REQUEST, verb: 'list', resource: 'pods', name: undefined, isVain: false });
  story.node('n1', { marks: PROVEN }, { ...APISERVER, version: '9' });
  said({ current_state: 'StagedAndPerformedUpdate', current_version: '1.0.0', crash_count: 0, reboot: record });
  story.call('n1', 'reboot').host('n1', DOWN).host('n1', { kind: 'up', bootId: 'b2', version: '1.1.0' });
  said({ current_state: 'Idle', current_version: '1.1.0', target_version: '1.1.0', crash_count: 0, reboot: null });
  story.lease('me', ['n1']).shadow('n1', { state: 'Idle' });
  story.node('n1', { version: '1.1.0', boot: 'b2', cordoned: false, marks: null }, APISERVER).lease('me', []);
  expect(story.shadow('n1', { verdict: 'UpToDate' }).calm().after(300).end().breaches).toEqual([]);
});
