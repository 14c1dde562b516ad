import * as z from 'zod';
import { timeZone } from '../../lib/time-zone.ts';
import { type Awaited, DNS_NAME, isAwaited, LONGEST_NAME } from './awaited.ts';
import { crontab } from './cron.ts';
import { durationMs } from './duration.ts';
import { checks } from './check-spec.ts';
import { described, duration, flag, list, text, value, wholeNumber } from './fields.ts';
import { drainSpec } from './drain-spec.ts';
import { labelKey, labelSelector } from './selector-spec.ts';
import { SEMVER_PATTERN } from '../shadow/semver.ts';
import { MAX_LOCK } from '../shadow/update-settings.ts';
import { ANY_COUNT, COUNT_AT_ONCE, limit, MOST_AT_ONCE, PROOF_NODES, type QuantityKind } from './quantity.ts';
import { EXPECTED_MAX, EXPECTED_VERSION, VERSION_OR_LATEST } from './version.ts';

/**
 * The spec of a BottlerocketUpdatePolicy: its validation, the OpenAPI schema of its CRD and the props of its construct all come from here.
 * Unknown fields are refused, because one from a newer version may be a limit.
 */

/** A count, or text in the same syntax as in the variables. */
function quantity({ expected, most, pattern, parse }: QuantityKind) {
  const fits = (given: unknown): boolean =>
    (typeof given === 'number' || typeof given === 'string') && parse(String(given)) !== undefined;
  return value<number | string>(expected, fits, { ...INT_OR_STRING, minimum: 1, maximum: most, pattern });
}

const INT_OR_STRING = { 'x-kubernetes-int-or-string': true };

const YEAR_10000 = Date.UTC(10_000, 0);

/** Status and verdicts state times in UTC, and for the API server a later year is no `date-time`. */
const timestamp = z.iso
  .datetime({ offset: true, error: 'expected a time such as 2026-12-18T00:00:00Z' })
  // Passes a text that is no time: that is another fault.
  .refine((given) => !(Date.parse(given) >= YEAR_10000), 'expected a time before the year 10000 in UTC');

const zones = z.strictObject(
  {
    key: described(labelKey, 'The label by whose value zones are told apart.').optional(),
    atOnce: described(
      value<number | 'unlimited'>(
        `a whole number from 1 to ${MOST_AT_ONCE} or "unlimited"`,
        (given) => given === 'unlimited' || wholeNumber(1, MOST_AT_ONCE).safeParse(given).success,
        { ...INT_OR_STRING, minimum: 1, maximum: MOST_AT_ONCE, pattern: '^unlimited$' },
      ),
      'Zones in which nodes may be updating at once: a number or unlimited (default).',
    ).optional(),
  },
  'expected an object',
);

const FIVE_FIELDS = 'five cron fields that match at some time, minute to day of the week';

const window = z.strictObject(
  {
    start: described(
      text(String.raw`^\s*\S+(\s+\S+){4}\s*$`, { expected: FIVE_FIELDS, most: 256 }).refine(
        (expression) => crontab(expression) !== undefined,
        `expected ${FIVE_FIELDS}`,
      ),
      'When it opens: five cron fields, minute to day of the week, as CronJobs have them.',
    ),
    duration: described(
      duration.refine((given) => durationMs(given) !== 0, 'expected a duration above 0s'),
      'For how long it is open, e.g. 1h30m.',
    ),
    timeZone: described(
      text('^[A-Za-z0-9_+/:-]+$', { expected: 'an IANA time zone like Europe/Berlin', most: 64 }).refine(
        (name) => timeZone(name) !== undefined,
        'expected an IANA time zone like Europe/Berlin',
      ),
      'IANA time zone of the start; UTC by default.',
    ).optional(),
  },
  'expected an object',
);

const freeze = z
  .strictObject(
    {
      from: timestamp,
      to: timestamp.describe('Exclusive.'),
      reason: z.string('expected some text').max(256, 'expected 256 characters at most').optional(),
      exceptExpedited: described(flag, 'Releases that people have expedited start all the same.').optional(),
    },
    'expected an object',
  )
  // Passes texts that are no times: these are other faults.
  .refine(({ from, to }) => !(Date.parse(from) >= Date.parse(to)), {
    path: ['to'],
    message: 'expected a time after from',
  });

/** Checks of a release under one policy, and of a node, each before and after: what they come to is kept in the release's status. */
const MOST_CHECKS = 8;
const MOST_OF_A_NODE = 4;
/** A greater step is none. */
const MOST_TIMES = 100;

const proof = z.strictObject(
  {
    nodes: described(
      quantity(PROOF_NODES),
      'Nodes of a family that must run a release and be well: a number or a percentage.',
    ).optional(),
    soak: described(duration, 'For how long they must be well.').optional(),
    per: described(
      labelKey,
      'A label: nodes of each of its values prove a release for themselves. None by default.',
    ).optional(),
    widen: described(
      wholeNumber(1, MOST_TIMES),
      'Once it is proven, as many times the nodes that have been well on it for the soak update at once. No limit by default.',
    ).optional(),
    compare: described(
      z.enum(['warn', 'fail'], 'expected warn or fail'),
      'fail: a node whose pods are clearly worse than on nodes that were not updated has failed on the release. warn by default.',
    ).optional(),
    checks: described(
      checks(MOST_CHECKS),
      'What has to pass besides, once they have been well for as long. One that fails halts the release there.',
    ).optional(),
  },
  'expected an object',
);

const EITHER = 'expected exact or max, not both';

const version = z
  .strictObject(
    {
      minAge: described(
        duration,
        'How long a release must have been offered before it starts. MIN_RELEASE_AGE_IN_SEC by default.',
      ).optional(),
      max: described(
        text(VERSION_OR_LATEST, { expected: EXPECTED_MAX, most: MAX_LOCK }),
        'No version above it starts; latest is no limit. MAX_VERSION by default.',
      ).optional(),
      exact: described(
        text(SEMVER_PATTERN, { expected: EXPECTED_VERSION, most: MAX_LOCK }),
        'The one version that starts, be it older than what runs. MAX_VERSION does not count then.',
      ).optional(),
      ignoreWaves: described(flag, 'Hosts wait for no wave of a release.').optional(),
    },
    'expected an object',
  )
  .refine(({ exact, max }) => exact === undefined || max === undefined, EITHER)
  .meta({ 'x-kubernetes-validations': [{ rule: '!(has(self.exact) && has(self.max))', message: EITHER }] });

const CONDITION_OR_TAINT = 'a condition, or a taint';

const unwell = z
  .strictObject(
    {
      condition: described(labelKey, 'The type of a condition of the Node.').meta({ nullable: false }).optional(),
      status: described(
        z.enum(['True', 'False'], 'expected True or False'),
        'The status that is bad, as Unknown is; True by default.',
      ).optional(),
      taint: described(labelKey, 'The key of a taint, with any effect.').meta({ nullable: false }).optional(),
    },
    'expected an object',
  )
  .refine(
    ({ condition, taint }) => (condition === undefined) !== (taint === undefined),
    `expected ${CONDITION_OR_TAINT}`,
  )
  .refine(({ status, taint }) => status === undefined || taint === undefined, {
    path: ['status'],
    message: 'expected none with a taint',
  })
  .meta({ oneOf: [{ required: ['condition'] }, { required: ['taint'] }] });

/** A policy, or a place outside of this cluster. What an API server can say of a value of two types, it says of each. */
const awaited = value<Awaited>('the name of a policy, or { external: NAME }', isAwaited, {
  'x-kubernetes-preserve-unknown-fields': true,
  pattern: DNS_NAME,
  maxLength: LONGEST_NAME,
  required: ['external'],
});

const after = list(awaited, 16).refine(
  (names) => new Set(names.map((one) => JSON.stringify(one))).size === names.length,
  'expected each policy once',
);

/** `false` too, because kubectl parses YAML 1.1, where a bare `off` is false. */
const windowFit = value<'off' | 'strict' | false>(
  'one of off, strict',
  (given) => given === 'off' || given === 'strict' || given === false,
  { enum: ['off', 'strict', false], 'x-kubernetes-preserve-unknown-fields': true },
);

const PRIORITIES = 1_000_000_000;

/** The fields of a spec. @internal */
export const policyFields = {
  nodeSelector: described(labelSelector, 'Which managed nodes it selects; {} selects every one.'),
  priority: described(
    wholeNumber(-PRIORITIES, PRIORITIES),
    'The policy of the highest priority that selects a node rules it, whole. Nothing is merged.',
  ).optional(),
  paused: described(flag, 'Nothing starts.').optional(),
  maxConcurrent: described(
    quantity(limit(COUNT_AT_ONCE)),
    'Nodes that may be updating at once: a number, a percentage of those that it rules, or unlimited. MAX_CONCURRENT_UPDATE by default.',
  ).optional(),
  maxFailed: described(
    quantity(limit(ANY_COUNT)),
    'Nodes of a family that may fail on a release before it is halted: a number, a percentage or unlimited. MAX_FAILED_UPDATE by default.',
  ).optional(),
  pauseBetween: described(duration, 'From the end of an update to the next start; 0s by default.').optional(),
  minInterval: described(
    duration,
    "From the end of a node's last finished update to its next start; 0s by default. A machine that is replaced begins anew.",
  ).optional(),
  completeWithin: described(
    duration,
    'By when a release is to be complete, from its first offer on. It forces nothing: the condition WillMissDeadline says where that cannot be.',
  ).optional(),
  zones: described(zones, 'How many zones are disturbed at once.').optional(),
  windows: described(
    list(window, 16),
    'When updates may start: any of them opens. An empty list is always open. The schedule of the controller by default.',
  ).optional(),
  windowFit: described(
    windowFit,
    'strict: no update starts that would not be done before the window closes. WINDOW_FIT by default.',
  ).optional(),
  freezes: described(list(freeze, 64), 'Times in which nothing starts, whatever the windows say.').optional(),
  version: described(version, 'Which releases start, and since when they must have been offered.').optional(),
  proof: described(proof, 'What a release needs before more of it starts.').optional(),
  checks: described(
    z.strictObject(
      {
        before: described(
          checks(MOST_OF_A_NODE),
          'Of each node, before its drain. One that fails leaves the node as it is, for an hour.',
        ).optional(),
        after: described(
          checks(MOST_OF_A_NODE),
          'Of each node, once it is back and Ready. One that fails counts as a failure of the update.',
        ).optional(),
      },
      'expected an object',
    ),
    'What has to pass for each node.',
  ).optional(),
  after: described(
    after,
    'Names of the policies where a release must be complete before it starts here; { external } is a name in provenIn of its BottlerocketRelease.',
  ).optional(),
  approval: described(
    z.enum(['Required', 'NotRequired'], 'expected Required or NotRequired'),
    'Required: a person approves each release first, by kubectl brupop approve. NotRequired by default.',
  ).optional(),
  onFailure: described(
    z.enum(['Halt', 'Rollback'], 'expected Halt or Rollback'),
    'Rollback: nodes that run a release which was halted for its failures go back to the version before. Halt by default.',
  ).optional(),
  capacity: described(
    z.enum(['warn', 'wait'], 'expected warn or wait'),
    'wait: no drain begins before there is room elsewhere for the pods that it moves. warn by default.',
  ).optional(),
  unwell: described(
    list(unwell, 16),
    'Conditions and taints by which a node counts as not Ready, e.g. { condition: StorageReady, status: "False" }.',
  ).optional(),
  preferUpdated: described(
    flag,
    'Nodes that wait for a proven release bear the taint waiting:PreferNoSchedule, so that evicted pods go to nodes that are done. false by default.',
  ).optional(),
  nodeSoak: described(
    duration,
    'How long a node must be Ready after its update. MONITORING_TIME_IN_SEC by default.',
  ).optional(),
  drain: described(drainSpec, 'Whose work finishes, on the cordoned node, before its drain begins.').optional(),
  settle: described(
    duration,
    'How long the update waits, once the node is back, until the workloads that its drain has moved run again; 0s = not at all. SETTLE_TIME_IN_SEC by default.',
  ).optional(),
  settleFails: described(
    flag,
    'What does not run again by then counts as a failure of the update. SETTLE_FAILS by default.',
  ).optional(),
};

/** @internal */
export const policySpec = z.strictObject(policyFields, 'expected an object');

export type PolicySpec = z.infer<typeof policySpec>;
