import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Spec } from '../../runtime/api/shadow/model.ts';
import { CONTROLLER_LEASE, shadowName } from '../../runtime/api/shadow/names.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
import { HandMoved, isUnderWay, isUpdated, type Seen } from './hand-moved.ts';
import { Stage } from './stage.ts';
import { intercepted, writesSpec } from './transports.ts';

/**
 * Back to an older controller and forth: ours ends, a minute goes by, and one leads that knows the contract of the first operator alone. Our agents,
 * whose nodes have staged ahead, go on.
 */

const NAMES = ['a', 'b', 'c'];
const NEXT = {
  StagedAndPerformedUpdate: 'RebootedIntoUpdate',
  RebootedIntoUpdate: 'MonitoringUpdate',
  MonitoringUpdate: 'Idle',
} as const;

let stage: Stage;
let agents: HandMoved;
beforeEach(async () => {
  stage = await Stage.with(...NAMES);
  agents = new HandMoved(stage);
  for (const name of NAMES) await stage.report(name, { staged: { version: '1.1.0', boot_id: 'boot-1' } });
});
afterEach(() => stage.end());

const all = (): Promise<Seen[]> => Promise.all(NAMES.map((name) => agents.seen(name)));

/** What an older controller does at a time: it moves every update on, and begins one where there is none. It reads no Lease and no annotation. */
async function olderController(): Promise<void> {
  const fleet = await all();
  const active = fleet.filter(isUnderWay);
  const waiting = fleet.filter(({ status }) => status.current_version !== status.target_version);
  const now = rfc3339(stage.clock.now());
  const write = (name: string, spec: Spec): Promise<unknown> =>
    stage.shadows.patch(shadowName(name), { spec: { ...spec, state_transition_timestamp: now } });
  for (const { name, spec, status } of active) {
    if (status.current_state === 'ErrorReset') await write(name, { ...spec, state: 'Idle' });
    else if (status.current_state === spec.state && spec.state !== 'Idle')
      await write(name, { ...spec, state: NEXT[spec.state] });
  }
  const next = waiting.toSorted((a, b) => a.status.crash_count - b.status.crash_count).at(-1);
  if (active.length === 0 && next)
    await write(next.name, { state: 'StagedAndPerformedUpdate', version: next.status.target_version });
}

interface Acting {
  readonly lead?: () => Promise<void>;
  readonly until: (fleet: readonly Seen[]) => boolean;
}

/** Lets everybody act in turn. @returns the most nodes that were under way at once */
async function act({ lead, until }: Acting): Promise<number> {
  const acts = [lead, () => stage.pass(), ...NAMES.map((name) => () => agents.move(name))];
  let most = 0;
  for (let count = 0; count < 120 * acts.length; count++) {
    const fleet = await all();
    most = Math.max(most, fleet.filter(isUnderWay).length);
    if (until(fleet)) return most;
    await acts[count % acts.length]?.();
  }
  throw new Error(`not within two minutes: ${JSON.stringify(await all())}`);
}

const isDone = (fleet: readonly Seen[]): boolean => fleet.every(isUpdated);

const slots = async (): Promise<string | undefined> =>
  (await stage.leases.get(CONTROLLER_LEASE))?.metadata.annotations?.[PERMITS_ANNOTATION];

const at =
  (spec: Spec['state'], status: Spec['state'], isIt: (one: Seen) => boolean = () => true) =>
  ([a]: readonly Seen[]): boolean =>
    a?.spec.state === spec && a.status.current_state === status && isIt(a);

const STEPS: Readonly<Record<string, Acting['until']>> = {
  'has a permit and prepares': at('StagedAndPerformedUpdate', 'Idle'),
  'fails to prepare': at('StagedAndPerformedUpdate', 'Idle'),
  'has staged': at('StagedAndPerformedUpdate', 'StagedAndPerformedUpdate'),
  'is told to drain': at('RebootedIntoUpdate', 'StagedAndPerformedUpdate', ({ marks }) => !marks),
  'is drained': at('RebootedIntoUpdate', 'StagedAndPerformedUpdate', ({ marks }) => marks !== undefined),
  'waits for its reboot': at('RebootedIntoUpdate', 'StagedAndPerformedUpdate', ({ status }) => !!status.reboot),
  'is back': at('RebootedIntoUpdate', 'RebootedIntoUpdate'),
  'is told to monitor': at('MonitoringUpdate', 'RebootedIntoUpdate'),
  soaks: at('MonitoringUpdate', 'MonitoringUpdate'),
  'is told to rest': at('Idle', 'MonitoringUpdate'),
  'has come to rest': ([a]) => a !== undefined && isUpdated(a),
};

test.each(Object.keys(STEPS))(
  'where a node %s, an older controller disturbs one node at a time, and so does ours after it',
  async (step) => {
    const ours = new AbortController();
    stage.start({ signal: ours.signal });
    await act({ until: STEPS[step]! });
    ours.abort();
    if (step === 'fails to prepare') await agents.fail('a');
    await stage.pass(60_000);
    const left = await slots();

    const isNext = (fleet: readonly Seen[]): boolean => fleet.some(isUpdated) && fleet.some(isUnderWay);
    expect(await act({ lead: olderController, until: isNext })).toBe(1);
    expect(await slots()).toBe(left);

    stage.start();
    expect(await act({ until: isDone })).toBe(1);
    await stage.pass(5000);
    expect(await stage.permits()).toEqual([]);
  },
);

// A write may still be on its way for as long as the API server takes for a request. It is what the minute is for.
test.each([
  ['a minute after', 60_000, 1],
  ['as soon as', 0, 2],
])(
  'a start that is on its way: of an older controller that leads %s ours ends, so many nodes are under way',
  async (_when, ms, most) => {
    const ours = new AbortController();
    const transport = intercepted(stage.transport, async (request, go) => {
      if (!writesSpec(request)) return go();
      ours.abort();
      await stage.clock.sleep(5000);
      const { signal: _, ...late } = request;
      return stage.transport.request(late);
    });
    stage.start({ transport, signal: ours.signal });
    await stage.pass();
    await stage.pass(ms);
    expect(await act({ lead: olderController, until: isDone })).toBe(most);
  },
);
