import * as z from 'zod';
import { MAX_REPOSITORIES, MAX_WAVES } from '../waves/waves.ts';
import { MAX_URL } from '../shadow/update-settings.ts';

/**
 * A BottlerocketRelease: what people have decided on a release, and what became of it. The schema of its CRD and the types come from here. Times are
 * RFC 3339.
 */

const described = <T extends z.ZodType>(schema: T, description: string): T => schema.meta({ description });

const text = z.string().max(253);
const time = z.iso.datetime({ offset: true }).nullish();

/** Automatic: the controller decides by failures. Halt: no node starts on it. Allow: failures do not halt it. */
export const DECISIONS = ['Automatic', 'Halt', 'Allow'] as const;
export type Decision = (typeof DECISIONS)[number];

/** Who has decided so, in that person's words, and when; RFC 3339. */
export interface Decided {
  readonly by: string;
  readonly at: string;
}

/** Names of one kind in a spec at most. */
const MAX_NAMES = 64;

export const releaseSpec = z.strictObject({
  family: described(text.min(1), 'Variant and architecture, e.g. aws-k8s-1.33/amd64; "*" stands for all.'),
  version: described(text.min(1), 'Without a leading "v".'),
  decision: described(
    z.enum(DECISIONS).optional(),
    'Halt: no node starts on it. Allow: failures do not halt it. Of several objects for one release, Halt decides, then Allow.',
  ),
  approvedFor: described(
    z.array(text.min(1)).max(MAX_NAMES).nullish(),
    'Names of policies with approval: Required, under which it may start. Those of several objects for one release count together.',
  ),
  rollbackFor: described(
    z.array(text.min(1)).max(MAX_NAMES).nullish(),
    'Names of policies whose nodes go back from it to the version that they came from, and start on it no more, whatever the decision; "*" stands for all nodes.',
  ),
  expediteFor: described(
    z.array(text.min(1)).max(MAX_NAMES).nullish(),
    'Names of policies where it waits for no window, age, interval or pause, and for no freeze that lets expedited releases through; "*" stands for all.',
  ),
  provenIn: described(
    z.array(text.min(1)).max(MAX_NAMES).nullish(),
    'Where else it is proven, as policies name it in after: [{ external }]. A pipeline writes it.',
  ),
});

/** What a spec says of places, by their names. */
export type SaidOfPlaces = 'approvedFor' | 'rollbackFor' | 'expediteFor' | 'provenIn';

/** Ends of an attempt that are blamed on the release (rule F1). */
export const BAD_ENDS = [
  'PrepareFailed',
  'BootFailed',
  'NotReturned',
  'SoakFailed',
  'Gone',
  'Reverted',
  'Unstable',
  'CheckFailed',
  'WorkloadsNotBack',
  'WorkloadsWorse',
] as const;
export type BadEnd = (typeof BAD_ENDS)[number];

/** Failures that one release remembers at most. At about 250 bytes each they take a quarter of etcd's 1.5 MB. */
export const MAX_FAILURES = 1000;

const failure = z.object({
  node: described(text, 'Its name.'),
  policy: described(z.string(), 'That ruled the node; empty = the variables.'),
  attempt: described(z.string(), 'Names the attempt and no other.'),
  reason: z.enum(BAD_ENDS),
  at: z.iso.datetime({ offset: true }),
});

const cleared = z.object({
  attempt: z.string(),
  at: z.iso.datetime({ offset: true }),
  by: described(z.string().nullish(), "Who has cleared it, in that person's words."),
  node: described(text.nullish(), 'Its name.'),
});

/** Checks of one release under one policy that are remembered at most. At about 200 bytes each they take less than half of etcd's 1.5 MB. */
export const MAX_CHECKS = 3000;
/** Characters of what is said of one. */
export const MAX_CHECK_MESSAGE = 256;

const check = z.object({
  says: described(z.string(), 'Tells whether the policy has changed what it asks.'),
  attempt: described(z.string(), 'For which it is asked: a permit of a node, or the UID of the policy.'),
  since: described(z.iso.datetime({ offset: true }), 'When this try began, or is to begin.'),
  tries: z.int().min(1),
  result: described(z.enum(['Passed', 'Failed']).nullish(), 'None while it is asked.'),
  at: described(time, 'When the result came.'),
  message: described(z.string().nullish(), 'What the last answer was.'),
});

/** Values of a label for which a proof is remembered. Nodes of others prove a release while they run it. */
export const MAX_PROVEN_VALUES = 64;

const underPolicy = z.object({
  uid: described(z.string().nullish(), 'Of the policy under which it was proven.'),
  provenAt: described(time, 'When enough nodes ran it and were well.'),
  met: described(z.string().nullish(), 'The proof that it has met, as the policy says it.'),
  provenFor: described(
    z
      .object({ uid: z.string(), met: z.string(), values: z.array(z.string().max(63)).max(MAX_PROVEN_VALUES) })
      .nullish(),
    'Values of the label in proof.per whose nodes have proven it, under which policy, and by which proof.',
  ),
  haltedAt: time,
  limit: described(z.string().nullish(), 'Nodes that may fail, by which it was halted.'),
  completedAt: described(time, 'When no node waited for it any more. Policies after this one go by it.'),
  lastFinishedAt: described(time, 'When the last update to it ended.'),
  lastSeenAt: described(time, 'When nodes of the family were last seen under the policy, to the day.'),
  checks: described(
    z.record(z.string(), check).nullish(),
    'Checks of the policy, by name; of a node, by UID, before or after, and name.',
  ),
});

const repository = z.object({
  metadata: described(z.string().max(MAX_URL), 'The address of its metadata.'),
  waves: described(
    z.array(z.object({ seed: z.int().min(0), time: z.iso.datetime({ offset: true }) })).max(MAX_WAVES),
    'Hosts of seeds up to this one have it by this time; none: nobody waits.',
  ),
});

const publication = z.object({
  maxVersion: described(text.nullish(), 'Hosts take no version above this one.'),
  repositories: described(z.array(repository).max(MAX_REPOSITORIES), 'That list it.'),
});

const published = publication.extend({ firstSeenAt: z.iso.datetime({ offset: true }) });

export const releaseStatus = z.object({
  state: described(
    z.enum(['Published', 'Proving', 'Proven', 'Halted', 'Allowed', 'Unused']).nullish(),
    'In a word. Published: no node has been offered it yet.',
  ),
  failed: described(z.int().min(0).nullish(), 'Nodes that have failed on it.'),
  message: described(z.string().nullish(), 'In a sentence, with the nodes that have failed.'),
  firstOfferedAt: time,
  published: described(published.nullish(), 'What repositories say of it, whoever is offered it.'),
  unusedSince: described(time, 'Since when no node runs it, is offered it or heads for it.'),
  policies: described(z.record(z.string(), underPolicy).nullish(), 'By name; the empty name = the variables.'),
  failures: described(z.record(z.string(), failure).nullish(), 'By UID of the node.'),
  cleared: described(
    z.record(z.string(), cleared).nullish(),
    'Attempts that a person has cleared, by UID of the node.',
  ),
});

export type ReleaseSpec = z.infer<typeof releaseSpec>;
export type ReleaseStatus = Readonly<z.infer<typeof releaseStatus>>;
/** What the repositories of a family say of one version. */
export type Publication = Readonly<z.infer<typeof publication>>;
/** What repositories list: by family, then by version. */
export type PublishedReleases = ReadonlyMap<string, ReadonlyMap<string, Publication>>;
export type Published = Readonly<z.infer<typeof published>>;
export type Failure = Readonly<z.infer<typeof failure>>;
export type ClearedAttempt = Readonly<z.infer<typeof cleared>>;
export type CheckState = Readonly<z.infer<typeof check>>;
export type UnderPolicy = Readonly<z.infer<typeof underPolicy>>;

/** The resource as it stands on the wire, validated by its CRD. */
export interface ReleaseObject {
  readonly spec: ReleaseSpec;
  readonly status?: ReleaseStatus | null;
}
