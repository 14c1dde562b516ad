import type { Plan } from '../../../runtime/controller/plan/plan.ts';
import type { WindowState } from '../../../runtime/controller/plan/facts/policies.ts';
import type { ShadowView } from '../../../runtime/controller/plan/facts/snapshot.ts';
import { formatEntries, withTaken } from '../../../runtime/controller/permits/entries.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { fleet, minutes, moment, plan, type Rules, type World } from './fleet.ts';
import { broken } from './invariants.ts';
import { after, seen as seenAnew } from './worlds.ts';

export interface RolloutReport {
  readonly plans: number;
  /** Minutes of virtual time until nobody had anything left to do. */
  readonly minutes: number;
  /** The invariants that were broken; empty is good. */
  readonly faults: readonly string[];
  readonly failures: number;
  /** The longest list of permits, and how many it had. */
  readonly longest: { readonly permits: number; readonly bytes: number };
}

export interface RolloutInput {
  readonly size: number;
  readonly policy: Rules;
  readonly random: Random;
  /** What the names of the nodes end with. @default nothing */
  readonly domain?: string;
  /** Makes each plan, and may measure it. */
  readonly make?: (work: () => Plan) => Plan;
}

/** Closed for the first ten of every forty minutes. */
function windowAt(minute: number): WindowState {
  const into = minute % 40;
  return { open: into >= 10, triggeredAt: undefined, changesAt: minutes(minute - into + (into < 10 ? 10 : 40)) };
}

/** Rolls a fleet over on the plan alone, a minute at a time, and holds each plan to every invariant. */
export function rollOut(input: RolloutInput): RolloutReport {
  const { size, policy, random, domain = '', make = (work) => work() } = input;
  const names = Array.from({ length: size }, (_, index) => `n${index}${domain}`);
  let snapshot = fleet(Object.fromEntries(names.map((name) => [name, {}])));
  const faults = new Set<string>();
  let plans = 0;
  let failures = 0;
  let longest = { permits: 0, bytes: 0 };
  let minute = 0;
  for (; minute < 100_000 && !isOver(snapshot); minute++) {
    const now = minutes(minute);
    const seen = { ...snapshot, window: windowAt(minute) };
    const made = make(() => plan(seen, policy, now));
    plans++;
    for (const fault of broken({ snapshot: seen, policy, now, plan: made })) faults.add(fault);
    const done = after(seen, made.commands, now);
    const bytes = listOf(done.permits).length;
    if (bytes > longest.bytes) longest = { permits: done.permits.length, bytes };
    const shadows = done.shadows.map((one) => seenAnew(one, step(one, random, minute), now));
    failures += shadows.filter((one, index) => isFailure(one, done.shadows[index])).length;
    snapshot = { ...done, shadows };
  }
  return { plans, minutes: minute, faults: [...faults], failures, longest };
}

/** As it stands on the Lease. */
const listOf = (permits: World['permits']): string =>
  formatEntries(withTaken([], permits, { now: moment(0), newId: () => 'f'.repeat(16) }));

const isFailure = (now: ShadowView, before: ShadowView | undefined): boolean =>
  now.status?.current_state === 'ErrorReset' && before?.status?.current_state !== 'ErrorReset';

function isOver({ shadows, permits }: World): boolean {
  return permits.length === 0 && shadows.every(({ status }) => status?.current_version === status?.target_version);
}

/** What its agent did in this minute: nothing yet, the next step, or, now and then, a failure that is not the release's. */
function step(one: ShadowView, random: Random, minute: number): ShadowView {
  const { spec, status } = one;
  if (!status || !hasWork(one) || random() < 0.4) return one;
  if (spec.state === 'StagedAndPerformedUpdate' && random() < 0.01) return { ...one, status: failed(status, minute) };
  const rebooted = spec.state === 'RebootedIntoUpdate' && { current_version: spec.version ?? status.current_version };
  const done = spec.state === 'Idle' && status.current_state === 'MonitoringUpdate' && { crash_count: 0 };
  return { ...one, status: { ...status, current_state: spec.state, ...rebooted, ...done } };
}

function hasWork({ spec, status }: ShadowView): boolean {
  return spec.state !== status?.current_state && (status?.current_state !== 'ErrorReset' || spec.state === 'Idle');
}

function failed(status: NonNullable<ShadowView['status']>, minute: number): NonNullable<ShadowView['status']> {
  const time = moment(minute);
  return {
    ...status,
    current_state: 'ErrorReset',
    crash_count: status.crash_count + 1,
    failed_versions: [],
    last_failure: { state: 'StagedAndPerformedUpdate', reason: 'HostFailed', message: '', time },
    state_transition_failure_timestamp: time,
  };
}
