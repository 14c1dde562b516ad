import * as z from 'zod';
import { durationMs } from './duration.ts';
import { described, duration, flag } from './fields.ts';
import { labelSelector } from './selector-spec.ts';

const SOME_PODS = 'expected waitFor, or honorDoNotDisrupt: true';

/** Whose work a drain lets finish. */
export const drainSpec = z
  .strictObject(
    {
      waitFor: described(
        labelSelector,
        'Labels of pods that are let finish; {} is every pod that is evicted.',
      ).optional(),
      honorDoNotDisrupt: described(
        flag,
        'So are pods with karpenter.sh/do-not-disrupt: "true" or cluster-autoscaler.kubernetes.io/safe-to-evict: "false".',
      )
        .meta({ nullable: false })
        .optional(),
      upTo: described(
        duration.refine((given) => durationMs(given) !== 0, 'expected a duration above 0s'),
        'For how long at most; 24h by default. Then they are evicted as others are.',
      ).optional(),
    },
    'expected an object',
  )
  .refine(({ waitFor, honorDoNotDisrupt }) => waitFor !== undefined || honorDoNotDisrupt === true, SOME_PODS)
  .meta({
    anyOf: [
      { required: ['waitFor'] },
      { required: ['honorDoNotDisrupt'], properties: { honorDoNotDisrupt: { enum: [true] } } },
    ],
  });
