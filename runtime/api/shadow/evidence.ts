import * as z from 'zod';
import { timestamp } from './timestamp.ts';

/** Characters of what is said of pods. */
export const MAX_WORSE = 1024;

/** What is known of the pods of a node since its update. */
export const workloadEvidence = z
  .object({
    version: z.string().describe('That the node runs.'),
    since: timestamp.describe('When it was first so.'),
    worse: z.string().max(MAX_WORSE).describe('Whose pods, what ails them, and how many of them here and elsewhere.'),
  })
  .describe('Pods that are clearly worse on updated nodes than elsewhere. Absent where none are.');

export const MAX_UNREADY = 50;

export const unreadyBefore = z
  .array(z.string())
  .max(MAX_UNREADY)
  .describe('UIDs of the controllers of pods that were not Ready when the last drain began, fifty at most.');

export type WorkloadEvidence = Readonly<z.infer<typeof workloadEvidence>>;
