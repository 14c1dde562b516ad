import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSilence, expireSilence } from '../../../runtime/controller/telling/notifications/alertmanager.ts';
import { disturbedBy } from '../../../runtime/controller/telling/notifications/disturbed.ts';
import { Silences, type SilenceOutcome } from '../../../runtime/controller/telling/notifications/silences.ts';
import { systemClock } from '../../../runtime/lib/clock.ts';
import { silentLogger } from '../../../runtime/lib/log.ts';
import { silenceBody } from '../../../runtime/api/notifications/silence.ts';
import { VirtualClock } from '../../../lab/sim/clock.ts';
import { folder } from '../../folder.ts';
import { fleet, snapshot } from '../plan/fleet.ts';
import { Receiver } from './receiver.ts';

let clock: VirtualClock;
let silences: Silences;
let stop: AbortController;
let running: Promise<void>;
/** What was asked of Alertmanager, each with the second. */
let asked: string[];
let answer: (what: string) => SilenceOutcome;

const DONE: SilenceOutcome = { kind: 'done' };
const seconds = (): number => Math.round(clock.monotonic() / 1000);
const nodes = (...names: readonly string[]) => new Map(names.map((name) => [`uid-${name}`, name]));
/** A plan by which the drain of these has begun, and these are still on their way. */
const see = (begun: readonly string[], busy = begun, draining: readonly string[] = []): void =>
  silences.observe({
    begun: nodes(...begun),
    draining: new Set(nodes(...draining).keys()),
    isOver: (uid) => !nodes(...busy).has(uid),
  });

beforeEach(() => {
  clock = new VirtualClock();
  [asked, answer] = [[], () => DONE];
  stop = new AbortController();
  const ask = (what: string): Promise<SilenceOutcome> => {
    asked.push(`${what} ${seconds()}`);
    return Promise.resolve(answer(what));
  };
  const parts = { clock, random: () => 0.5, logger: silentLogger, onChange: () => undefined };
  silences = new Silences(
    {
      ...parts,
      name: 'a',
      durationMs: () => 3_600_000,
      create: async (node) => ({ ...(await ask(`create ${node}`)), id: `silence-${node}` }),
      expire: (id) => ask(`expire ${id}`),
      metrics: { silenced: () => undefined },
    },
    new Map([['uid-gone', { id: 'silence-gone', endsAt: clock.now() + 60_000 }]]),
  );
  running = silences.run(stop.signal);
});
afterEach(async () => {
  stop.abort();
  await clock.advance(0);
  await running;
});

test('a node has one silence from its drain until it is at rest, and silences that an earlier controller has left are ended', async () => {
  await clock.advance(1000);
  expect(asked).toEqual([]);
  see(['a']);
  await clock.advance(1000);
  see(['a']);
  await clock.advance(1000);
  // It has failed, and its agent still has to give it back.
  see([], ['a']);
  await clock.advance(1000);
  expect(asked).toEqual(['expire silence-gone 1', 'create a 1']);
  see([]);
  await clock.advance(1000);
  expect(asked.slice(2)).toEqual(['expire silence-a 4']);
  expect(silences.made.size).toBe(0);
});

test('an Alertmanager that is out is asked again for as long as the node needs it, and not after that', async () => {
  answer = () => ({ kind: 'later', why: 'nobody listens there' });
  see(['a'], ['a', 'gone']);
  await clock.advance(4000);
  expect(asked).toEqual(['create a 0', 'create a 1', 'create a 3']);
  see([], ['gone']);
  await clock.advance(600_000);
  expect(asked).toHaveLength(3);
});

test('one that refuses is asked once for each reboot', async () => {
  answer = () => ({ kind: 'refused', why: 'it answers 400' });
  see(['a'], ['a', 'gone']);
  await clock.advance(60_000);
  see(['a'], ['a', 'gone']);
  await clock.advance(60_000);
  expect(asked).toEqual(['create a 0']);
});

test('one that cannot end a silence silences the next node at once all the same', async () => {
  answer = (what) => (what.startsWith('expire') ? { kind: 'later', why: 'it answers 500' } : DONE);
  see([]);
  await clock.advance(20_000);
  asked = [];
  see(['a']);
  await clock.advance(0);
  expect(asked).toEqual(['create a 20']);
});

test('a silence lasts for as long as the drain takes, and then for the reboot, and stops being renewed once it is asked for', async () => {
  see(['a'], ['a', 'gone'], ['a']);
  await clock.advance(1_860_000);
  expect(asked).toEqual(['create a 0', 'create a 1860', 'expire silence-a 1860']);
  see(['a'], ['a', 'gone']);
  await clock.advance(3_700_000);
  expect(asked).toHaveLength(3);
});

test('a silence that has ended by itself is neither ended nor made again while the node does not come back', async () => {
  see(['a'], ['a', 'gone']);
  await clock.advance(3_700_000);
  see(['a'], ['a', 'gone']);
  await clock.advance(1000);
  see([]);
  await clock.advance(1000);
  expect(asked).toEqual(['create a 0']);
});

const NONE: Parameters<typeof disturbedBy>[0]['plan'] = {
  commands: [],
  verdicts: [],
  halted: [],
  offered: [],
  warnings: [],
  policies: [],
  releases: [],
  ledger: [],
};

test('a drain begins with the plan that asks for it, and all is over when the shadow is at rest', () => {
  const staged = {
    spec: { state: 'StagedAndPerformedUpdate', version: '1.1.0' },
    status: { current_state: 'StagedAndPerformedUpdate' },
  } as const;
  const rebooted = {
    spec: { state: 'RebootedIntoUpdate', version: '1.1.0' },
    status: { current_state: 'StagedAndPerformedUpdate' },
  } as const;
  const world = snapshot(fleet({ a: staged, b: rebooted, c: {} }));
  const uid = (name: string): string => world.nodes.find((node) => node.name === name)?.uid ?? '';
  const command = {
    kind: 'set-spec',
    shadow: 'brs-a',
    resourceVersion: '1',
    spec: { state: 'RebootedIntoUpdate' },
  } as const;
  const before = disturbedBy({ plan: NONE, snapshot: world });
  expect([...before.begun.values()]).toEqual(['b']);
  expect([...disturbedBy({ plan: { ...NONE, commands: [command] }, snapshot: world }).begun.values()]).toEqual([
    'a',
    'b',
  ]);
  expect(['a', 'b', 'c'].map((name) => before.isOver(uid(name)))).toEqual([false, false, true]);
});

test('a node is being drained until its reboot is asked for, and not while it is not Ready', () => {
  const drained = {
    spec: { state: 'RebootedIntoUpdate', version: '1.1.0' },
    status: { current_state: 'StagedAndPerformedUpdate' },
  } as const;
  const world = snapshot(fleet({ a: drained, b: drained, c: drained }));
  const [one, two, three] = world.nodes;
  const inReboot = { rebootAskedAt: 0 };
  const all = {
    ...world,
    nodes: [one, two, three && { ...three, ready: false }].filter((node) => node !== undefined),
    shadows: world.shadows.map((shadow) => Object.assign({}, shadow, shadow.name === two?.shadowName && inReboot)),
  };
  expect([...disturbedBy({ plan: NONE, snapshot: all }).draining]).toEqual([one?.uid]);
});

test('a regular expression means one node, whatever is in its name', () => {
  const { matchers } = JSON.parse(
    silenceBody(
      {
        node: 'ip-10-0.ec2',
        matchers: [{ name: 'instance', value: String.raw`{{node}}(:\d+)?`, isRegex: true }],
        durationMs: 60_000,
      },
      Date.parse('2026-01-01T00:00:00Z'),
    ),
  ) as { matchers: readonly { value: string }[] };
  expect(matchers).toEqual([
    { name: 'instance', value: String.raw`ip-10-0\.ec2(:\d+)?`, isRegex: true, isEqual: true },
  ]);
});

test('Alertmanager is asked by its API, below the path of the address, and one that has forgotten a silence has ended it', async () => {
  const receiver = await new Receiver(({ method }, response) => {
    if (method === 'POST') response.end(JSON.stringify({ silenceID: '8ee3f1a5-0000-4000-8000-000000000001' }));
    else response.writeHead(404).end();
  }).listen();
  try {
    await mkdir(join(folder, 'silences.am'));
    await writeFile(join(folder, 'silences.am', 'url'), `http://127.0.0.1:${receiver.port}/alerts/?x=1`);
    const matchers = [{ name: 'node', value: '{{node}}' }];
    const access = {
      dir: folder,
      silencer: { name: 'am', matchers, durationInSec: 600 },
      clock: systemClock,
      signal: new AbortController().signal,
    };
    const id = '8ee3f1a5-0000-4000-8000-000000000001';
    expect(await createSilence('n1', access)).toEqual({ kind: 'done', id });
    expect(await expireSilence(id, access)).toEqual({ kind: 'done' });
    const [made, ended] = receiver.received;
    expect([made?.path, ended?.method, ended?.path]).toEqual([
      '/alerts/api/v2/silences?x=1',
      'DELETE',
      `/alerts/api/v2/silence/${id}?x=1`,
    ]);
    const { startsAt, endsAt, ...body } = JSON.parse(made?.body ?? '') as Record<string, string>;
    const now = systemClock.now();
    expect(Date.parse(endsAt ?? '') - now).toBeGreaterThan(500_000);
    // By a clock that is minutes ahead it has begun too.
    expect(now - Date.parse(startsAt ?? '')).toBeGreaterThan(300_000);
    expect(body).toEqual({
      matchers: [{ name: 'node', value: 'n1', isRegex: false, isEqual: true }],
      createdBy: 'brupop',
      comment: 'node n1 is being updated',
    });
  } finally {
    receiver.close();
  }
});
