import * as z from 'zod';
import { jsonObject } from '../../lib/json.ts';
import type { LabelSelector } from '../../lib/selector.ts';
import { LET_FINISH_ANNOTATION } from './names.ts';

/** Whose work the drain of a node lets finish before it begins. The controller says so with the write that asks for the drain; older parts leave it unread. */
export interface LetFinish {
  /** Pods that this selects; undefined = none. */
  readonly pods: LabelSelector | undefined;
  /** Also those that ask autoscalers to leave them alone. */
  readonly doNotDisrupt: boolean;
  /** Most time that the drain waits so, milliseconds. */
  readonly upToMs: number;
}

const selector = z.object({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
});

const written = z.object({ pods: selector.optional(), doNotDisrupt: z.boolean(), upToMs: z.number().min(1) });

/** Undefined where nobody's is, or that cannot be read. */
export function letFinishIn(annotations: Readonly<Record<string, string>> | undefined): LetFinish | undefined {
  const { data } = written.safeParse(jsonObject(annotations?.[LET_FINISH_ANNOTATION]));
  return data && { pods: data.pods, doNotDisrupt: data.doNotDisrupt, upToMs: data.upToMs };
}

/** The value of the annotation; null where there is nothing to say. */
export const letFinishText = (said: LetFinish | undefined): string | null => (said ? JSON.stringify(said) : null);
