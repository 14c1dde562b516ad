import * as fc from 'fast-check';
import { MAX_CRASHES } from '../../../runtime/api/shadow/failed-versions.ts';
import { FAILURE_REASONS } from '../../../runtime/api/shadow/model.ts';
import { STATES } from '../../../runtime/api/shadow/states.ts';

/** Parts of shadows, for properties. */

export const version = fc.constantFrom('1.38.0', '1.39.0', '1.40.0-rc.1+build.7');
export const time = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00.123456789+00:00');
export const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value);
export const state = fc.constantFrom(...STATES);
/** Optional fields are absent, null or there, as objects of older and newer parts have them. */
export const some = <T extends object>(required: fc.Arbitrary<T>, optional: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .tuple(required, fc.record(optional, { requiredKeys: [] }))
    .map(([first, second]) => Object.assign({}, first, second));

const lock = some(fc.constant({}), { version_lock: maybe(version), ignore_waves: maybe(fc.boolean()) });
export const spec = some(fc.record({ state }), {
  version: maybe(version),
  state_transition_timestamp: maybe(time),
  version_wish: maybe(lock),
  capacity: maybe(fc.constant('wait')),
  compare_until: maybe(time),
});
const failure = some(fc.record({ state, reason: fc.constantFrom(...FAILURE_REASONS), message: fc.string(), time }), {
  version: maybe(version),
});
const condition = fc.record({
  type: fc.constant('UpToDate'),
  status: fc.constantFrom('True', 'False', 'Unknown'),
  reason: fc.string(),
  message: fc.string(),
  lastTransitionTime: time,
});
/** Each field of a status of v2, as it may be stored. */
export const required = {
  current_version: version,
  target_version: version,
  current_state: state,
  crash_count: fc.oneof(fc.nat({ max: MAX_CRASHES }), fc.constant(MAX_CRASHES)),
};
export const optional = {
  state_transition_failure_timestamp: maybe(time),
  reboot: maybe(some(fc.record({ boot_id: fc.uuid(), version }), { requested_at: maybe(time) })),
  preflight: maybe(fc.record({ looked_at: time, blocked_by: fc.array(fc.string(), { maxLength: 3 }) })),
  drain: maybe(
    some(fc.record({ started_at: time, pods_left: fc.nat(), blocked_by: fc.array(fc.string()) }), {
      reported_at: maybe(time),
      waits_for: maybe(fc.array(fc.string(), { maxLength: 3 })),
      waits_until: maybe(time),
    }),
  ),
  drain_refused: maybe(fc.record({ since: time, version })),
  drain_failed: maybe(some(fc.record({ left: fc.array(fc.uuid(), { maxLength: 3 }) }), { due: maybe(time) })),
  no_room: maybe(fc.string()),
  displaced: maybe(
    some(fc.record({ owners: fc.constant([]), missing: fc.array(fc.string(), { maxLength: 3 }) }), {
      looked_at: maybe(time),
      budgets: maybe(
        fc.array(fc.record({ name: fc.string(), pods: fc.integer({ min: 1 }), left: fc.array(fc.uuid()) })),
      ),
    }),
  ),
  unready_before: maybe(fc.array(fc.uuid(), { maxLength: 3 })),
  workloads: maybe(fc.record({ version, since: time, worse: fc.string({ maxLength: 1024 }) })),
  last_failure: maybe(failure),
  failed_versions: maybe(fc.array(version, { maxLength: 5 })),
  check: maybe(some(fc.record({ failing_since: time, error: fc.string() }), { succeeded_at: maybe(time) })),
  finished: maybe(fc.record({ version, at: time, boot_id: fc.uuid(), unasked_boots: fc.nat() })),
  staged: maybe(
    some(fc.constant({}), { version: maybe(version), boot_id: maybe(fc.uuid()), error: maybe(fc.string()) }),
  ),
  update_settings: maybe(
    some(fc.record({ read_at: time }), {
      seed: maybe(fc.nat({ max: 2048 })),
      ignore_waves: maybe(fc.boolean()),
      version_lock: maybe(fc.constantFrom('latest', '1.38.0')),
      metadata_base_url: maybe(fc.constant('https://updates.example/')),
    }),
  ),
  version_wish: maybe(some(fc.record({ ours: lock, before: lock }), { refused: maybe(fc.string()) })),
  conditions: maybe(fc.array(condition)),
};
export const status = some(fc.record(required), { ...optional, field_of_a_newer_model: fc.string() });
