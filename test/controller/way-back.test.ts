import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readMarks } from '../../runtime/api/marks/marks.ts';
import { MARKS_ANNOTATION } from '../../runtime/api/marks/names.ts';
import type { Spec, Status } from '../../runtime/api/shadow/model.ts';
import { CONTROLLER_LEASE, shadowName } from '../../runtime/api/shadow/names.ts';
import { PERMITS_ANNOTATION } from '../../runtime/controller/permits/entries.ts';
import { rfc3339 } from '../../runtime/lib/clock.ts';
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

interface Seen {
  readonly spec: Spec;
  readonly status: Status;
  readonly marks: ReturnType<typeof readMarks>;
}

let stage: Stage;
beforeEach(async () => {
  stage = await Stage.with(...NAMES);
  for (const name of NAMES) await stage.report(name, { staged: { version: '1.1.0', boot_id: 'boot-1' } });
});
afterEach(() => stage.end());

async function seen(name: string): Promise<Seen> {
  const { spec, status } = (await stage.shadows.get(shadowName(name)))!;
  return { spec, status: status!, marks: readMarks((await stage.nodes.get(name))!) };
}

const all = (): Promise<Seen[]> => Promise.all(NAMES.map(seen));

/** The next thing that an agent of ours does. */
async function moveAgent(name: string): Promise<void> {
  const now = await seen(name);
  const { state } = now.spec;
  const { current_state: reached } = now.status;
  if (state === 'RebootedIntoUpdate' && reached === 'StagedAndPerformedUpdate') await reboot(name, now);
  else if (state === 'Idle' && reached !== 'Idle') await rest(name, reached);
  else if (state !== reached) await stage.report(name, { current_state: state });
}

async function reboot(name: string, { spec, status, marks }: Seen): Promise<void> {
  const version = spec.version ?? '';
  if (!marks?.drained) await stage.mark(name, { drained: marks !== undefined });
  else if (!status.reboot) {
    const requested_at = rfc3339(stage.clock.now());
    await stage.report(name, { reboot: { boot_id: 'boot-1', version, requested_at } });
  } else {
    await release(name);
    await stage.report(name, { current_state: 'RebootedIntoUpdate', current_version: version });
  }
}

async function rest(name: string, reached: Status['current_state']): Promise<void> {
  await release(name);
  await stage.report(name, {
    current_state: 'Idle',
    reboot: null,
    ...(reached !== 'ErrorReset' && { crash_count: 0 }),
  });
}

const release = (name: string): Promise<void> =>
  stage.patchNode(name, { metadata: { annotations: { [MARKS_ANNOTATION]: null } }, spec: { unschedulable: null } });

const fail = (name: string): Promise<void> =>
  stage.report(name, {
    current_state: 'ErrorReset',
    crash_count: 1,
    state_transition_failure_timestamp: rfc3339(stage.clock.now()),
  });

const isUnderWay = ({ spec, status, marks }: Seen): boolean =>
  marks !== undefined || status.current_state !== 'Idle' || spec.state !== 'Idle';

/** What an older controller does at a time: it moves every update on, and begins one where there is none. It reads no Lease and no annotation. */
async function olderController(): Promise<void> {
  const fleet = await Promise.all(NAMES.map(async (name) => ({ name, ...(await seen(name)) })));
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
  const acts = [lead, () => stage.pass(), ...NAMES.map((name) => () => moveAgent(name))];
  let most = 0;
  for (let count = 0; count < 120 * acts.length; count++) {
    const fleet = await all();
    most = Math.max(most, fleet.filter(isUnderWay).length);
    if (until(fleet)) return most;
    await acts[count % acts.length]?.();
  }
  throw new Error(`not within two minutes: ${JSON.stringify(await all())}`);
}

const isUpdated = ({ spec, status }: Seen): boolean =>
  spec.state === 'Idle' && status.current_state === 'Idle' && status.current_version === '1.1.0';
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
    if (step === 'fails to prepare') await fail('a');
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
