import * as z from 'zod';
import { timestamp } from './timestamp.ts';

/** Owners of evicted pods that one drain remembers. */
export const MAX_OWNERS = 50;

const displacedOwner = z.object({
  kind: z.string().describe('ReplicaSet or StatefulSet.'),
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  ready: z.int().min(1).describe('Its pods that were ready before the drain.'),
});

/** Pods of one drain that are remembered with their budgets. */
export const MAX_COVERED = 50;

const coveredPods = z.object({
  name: z.string().describe('Namespace and name of the PodDisruptionBudget, e.g. "shop/web".'),
  pods: z.int().min(1).describe('Pods that it covers, and that were on the node before the drain.'),
  left: z.array(z.string()).max(MAX_COVERED).describe('UIDs of those of them that are not evicted yet.'),
});

export const displacedWorkloads = z
  .object({
    owners: z.array(displacedOwner).max(MAX_OWNERS).describe('Those that are not back as they were, fifty at most.'),
    looked_at: timestamp
      .nullish()
      .describe(
        'When they were last seen so after the update, which is said again each half minute; null before that.',
      ),
    missing: z.array(z.string()).describe('What is not back, e.g. "StatefulSet shop/db: 2 of 3 ready (Pending)".'),
    budgets: z
      .array(coveredPods)
      .max(MAX_COVERED)
      .nullish()
      .describe('What covers the pods of the drain, fifty pods at most: by it, drains that block each other are seen.'),
  })
  .describe('Whose pods the last drain has evicted. Absent once all of them are back.');

export type DisplacedWorkloads = z.infer<typeof displacedWorkloads>;
export type DisplacedOwner = z.infer<typeof displacedOwner>;
export type CoveredPods = Readonly<z.infer<typeof coveredPods>>;
