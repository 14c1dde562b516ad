import * as z from 'zod';
import { MAX_CRASHES, MAX_FAILED_VERSIONS } from './failed-versions.ts';
import type { NOT_OF_AGENTS } from './names.ts';
import { displacedWorkloads } from './displaced.ts';
import { unreadyBefore, workloadEvidence } from './evidence.ts';
import { SEMVER_PATTERN } from './semver.ts';
import { STATES, STATES_V1 } from './states.ts';
import { timestamp } from './timestamp.ts';
import { MAX_LOCK, MAX_URL } from './update-settings.ts';

/**
 * One model of the BottlerocketShadow: the TypeScript types, the validation and the CRD's OpenAPI schema all come from here.
 * Field names and which of them are required are part of the public contract.
 */

const semver = z.string().regex(new RegExp(SEMVER_PATTERN), 'expected a semver 2.0.0 version without a leading "v"');
const state = z.enum(STATES);
const stateV1 = z.enum(STATES_V1);

const specShape = {
  state_transition_timestamp: timestamp.nullish().describe('When the controller wrote this state.'),
  version: semver.nullish().describe('The version that the update leads to.'),
};

const versionWish = z
  .object({
    version_lock: semver.nullish().describe('The version that the host is to choose, and no other.'),
    ignore_waves: z.boolean().nullish().describe('True: the host is to wait for no wave.'),
  })
  .describe(
    "What the host's settings.updates are to say. Absent for nothing: what was set for an earlier wish is given back.",
  );

export const specV2 = z
  .object({
    state: state.describe('The state that the node is wanted in.'),
    ...specShape,
    version_wish: versionWish.nullish(),
    compare_until: timestamp
      .nullish()
      .describe('Until when the agent asks for its pods to be compared with those of nodes that were not updated.'),
    capacity: z
      .enum(['wait'])
      .nullish()
      .describe('wait: the drain begins only once there is room elsewhere for the pods that it moves.'),
  })
  .describe('What is wanted of the node. Written by the controller.');

export const specV1 = z
  .object({ state: stateV1.describe('The state that the node is wanted in.'), ...specShape })
  .describe('What is wanted of the node. Written by the controller.');

const statusShape = {
  current_version: semver.describe('The version that the node runs.'),
  target_version: semver.describe('The version that the host offers; the running one when there is no update.'),
};

const rebootRecord = z
  .object({
    boot_id: z.string().describe('The boot that the reboot ends.'),
    version: semver.describe('The version that the reboot leads to.'),
    requested_at: timestamp
      .nullish()
      .describe('When the reboot was requested; null for a probe after a boot that was not requested.'),
  })
  .describe('Written before a reboot is requested, so that a rollback can be told from an unplanned reboot.');

const drainProgress = z
  .object({
    started_at: timestamp.describe('When the drain began.'),
    pods_left: z.int().min(0).describe('Pods of the drain set that are still on the node.'),
    blocked_by: z
      .array(z.string())
      .describe(
        'What refuses evictions, e.g. "PodDisruptionBudget shop/web (pod shop/web-1)", or writes to the Node, e.g. "the cordon is refused: 403 Forbidden: ...".',
      ),
    reported_at: timestamp.nullish().describe('When it was last so. A drain that runs says so every half minute.'),
    waits_for: z
      .array(z.string())
      .nullish()
      .describe('Pods that are let finish before any is evicted, e.g. "ci/build-7". Absent once none are.'),
    waits_until: timestamp.nullish().describe('When they are evicted as others are.'),
  })
  .describe('Progress of the drain that runs.');

const preflight = z
  .object({
    looked_at: timestamp.describe('When they were looked at.'),
    blocked_by: z
      .array(z.string())
      .describe(
        'What no eviction could move, e.g. "PodDisruptionBudget shop/web (pod shop/web-1)". Empty for nothing.',
      ),
  })
  .describe('What its pods were like when its update was offered or, later, prepared. Absent where nobody has looked.');

/** Of the pods that a drain has left. */
export const MAX_LEFT = 50;

const drainRefusal = z
  .object({
    since: timestamp.describe('When the drain was refused first.'),
    version: semver.describe('The version that the update leads to.'),
  })
  .describe('Since when the preflight refuses the drain for this version. Absent once a drain has begun.');

const failedDrain = z
  .object({
    left: z.array(z.string()).max(MAX_LEFT).describe('UIDs of pods that were left, fifty at most.'),
    due: timestamp.nullish().describe('By when those of them that were ending have to be gone, as their grace says.'),
  })
  .describe('What a drain that failed has left. Absent once another one has begun.');

/** The reasons that our agents give, or gave: none says ActivateFailed any more. The schema allows any text, so that a status with a newer reason is not refused as a whole. */
export const FAILURE_REASONS = [
  'PrepareFailed',
  'DrainFailed',
  'ActivateFailed',
  'RebootFailed',
  'BootFailed',
  'TargetChanged',
  'HostFailed',
  'Unsupported',
  'Reverted',
  'Unstable',
] as const;

const lastFailure = z
  .object({
    state: state.describe('The state that was wanted.'),
    reason: z.string().describe(`What went wrong, in one word: ${FAILURE_REASONS.join(', ')}, or a newer one.`),
    message: z.string().describe('What went wrong, with what the host or the cluster said.'),
    version: semver.nullish().describe('The version that was being installed.'),
    time: timestamp.describe('When it went wrong.'),
  })
  .describe('The last failed attempt. Means nothing while crash_count is 0.');

const failingCheck = z
  .object({
    failing_since: timestamp.describe('When the first of these looks failed.'),
    succeeded_at: timestamp
      .nullish()
      .describe('When the last look before succeeded; null where the agent has seen none.'),
    error: z.string().describe('What the host said at first.'),
  })
  .describe('Why the host cannot look for updates. Absent while it can.');

const finishedUpdate = z
  .object({
    version: semver.describe('The version that the update led to.'),
    at: timestamp.describe('When it was finished.'),
    boot_id: z.string().describe('The boot that the agent has seen last.'),
    unasked_boots: z.int().min(0).describe('Boots within an hour of the end that nobody had asked for.'),
  })
  .describe('The last update that was finished: what tells a boot that nobody asked for.');

const stagedAhead = z
  .object({
    version: semver.nullish().describe('The version in the inactive partition, which is not activated.'),
    boot_id: z.string().nullish().describe('The boot that it was prepared in: the host forgets it with the next one.'),
    error: z.string().nullish().describe('Why the version that the controller has named could not be prepared.'),
  })
  .describe(
    'What was prepared before the update begins. Empty for nothing; absent where the agent prepares nothing ahead.',
  );

const updateSettings = z
  .object({
    seed: z.int().min(0).nullish().describe('Its position in the waves of releases.'),
    ignore_waves: z.boolean().nullish().describe('It waits for no wave.'),
    version_lock: z.string().max(MAX_LOCK).nullish().describe('"latest", or the version that it is kept at.'),
    metadata_base_url: z
      .string()
      .max(MAX_URL)
      .nullish()
      .describe('Where it looks for releases, without user and query.'),
    read_at: timestamp.describe('When it first answered so.'),
  })
  .describe("The host's settings.updates, which decide when a release comes to it. Absent where the host tells none.");

/** Why a wish does not hold. The agent does not tell whether a version waits for its wave or is above max_version: it says NotOffered then. */
const WISH_REFUSALS = [
  'NotOffered',
  'WaveNotReached',
  'AboveMaxVersion',
  'Lockdown',
  'NoSettings',
  'NoMigrations',
  'LockedElsewhere',
  'HostFailed',
] as const;

const lockSettings = z.object({
  version_lock: z.string().max(MAX_LOCK).nullish().describe('"latest", or a version.'),
  ignore_waves: z.boolean().nullish(),
});

const wishState = z
  .object({
    ours: lockSettings.describe('What the agent has set, or is about to set.'),
    before: lockSettings.describe('What was there, and is given back when the wish ends.'),
    refused: z
      .string()
      .nullish()
      .describe(`Why the wish does not hold, in one word: ${WISH_REFUSALS.join(', ')}, or a newer one.`),
    detail: z.string().nullish().describe('The same in a sentence.'),
  })
  .describe("What has become of spec.version_wish. Written before the host's settings are changed.");

export const condition = z
  .object({
    type: z.string(),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z.string(),
    message: z.string(),
    lastTransitionTime: timestamp,
  })
  .describe('A fact about the node in the eyes of the controller.');

export const statusV2 = z
  .object({
    ...statusShape,
    current_state: state.describe('The state that the node has reached.'),
    crash_count: z.int().min(0).max(MAX_CRASHES).describe('Failed attempts in a row.'),
    state_transition_failure_timestamp: timestamp.nullish().describe('When the last attempt failed.'),
    reboot: rebootRecord.nullish(),
    preflight: preflight.nullish(),
    drain: drainProgress.nullish(),
    drain_refused: drainRefusal.nullish(),
    drain_failed: failedDrain.nullish(),
    unready_before: unreadyBefore.nullish(),
    workloads: workloadEvidence.nullish(),
    no_room: z
      .string()
      .nullish()
      .describe('What the pods of the last drain needed, and what was free elsewhere. Absent where there was room.'),
    displaced: displacedWorkloads.nullish(),
    last_failure: lastFailure.nullish(),
    failed_versions: z
      .array(semver)
      .max(MAX_FAILED_VERSIONS)
      .nullish()
      .describe('Versions that this node failed to install or to boot.'),
    check: failingCheck.nullish(),
    finished: finishedUpdate.nullish(),
    staged: stagedAhead.nullish(),
    update_settings: updateSettings.nullish(),
    version_wish: wishState.nullish(),
    conditions: z.array(condition).nullish().describe('Written by the controller.'),
  })
  .describe('What the node is. Written by its agent; conditions by the controller.');

export const statusV1 = z
  .object({ ...statusShape, current_state: stateV1.describe('The state that the node has reached.') })
  .describe('What the node is. Written by its agent.');

/** Only the fields that the operator reads. All others survive, because objects are never rebuilt from this. */
const metadata = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  resourceVersion: z.string().optional(),
  generation: z.number().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  ownerReferences: z
    .array(z.looseObject({ apiVersion: z.string(), kind: z.string(), name: z.string(), uid: z.string() }))
    .optional(),
});

export const shadowV2 = z.object({ metadata, spec: specV2, status: statusV2.nullish() });

export type Spec = z.infer<typeof specV2>;
/** The status as the agent sends it and the API server stores it. */
export type Status = z.infer<typeof statusV2>;
export type RebootRecord = z.infer<typeof rebootRecord>;
export type DrainProgress = z.infer<typeof drainProgress>;
export type DrainRefusal = z.infer<typeof drainRefusal>;
export type FailingCheck = z.infer<typeof failingCheck>;
export type StagedAhead = z.infer<typeof stagedAhead>;
export type UpdateSettings = Readonly<z.infer<typeof updateSettings>>;
export type VersionWish = Readonly<z.infer<typeof versionWish>>;
export type WishState = Readonly<z.infer<typeof wishState>>;
export type WishRefusal = (typeof WISH_REFUSALS)[number];
export type FailureReason = (typeof FAILURE_REASONS)[number];
export type ShadowCondition = z.infer<typeof condition>;
export type Shadow = z.infer<typeof shadowV2>;
/** What the agent sends. */
export type AgentStatus = Omit<Status, keyof typeof NOT_OF_AGENTS>;
