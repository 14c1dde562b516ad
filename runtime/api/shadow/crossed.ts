import * as z from 'zod';
import { jsonObject } from '../../lib/json.ts';
import { CROSSED_ANNOTATION } from './names.ts';

/** Why the drain of a node was called off that blocked another one, as that blocked it. On the shadow of its node, until its next update is complete. */
export interface Crossed {
  /** Whose drain went on. */
  readonly node: string;
  /** Its attempt, by its permit. This node waits until that is over. */
  readonly attempt: string;
  /** The PodDisruptionBudget that waited for pods of the other node, and the one that waited for pods of this: `namespace/name`. */
  readonly budgets: readonly [here: string, there: string];
  /** How often that was so without a complete update in between. */
  readonly times: number;
  /** When (RFC 3339). Earlier versions left it to the time of spec, which any later step changes. */
  readonly at?: string | undefined;
}

const written = z.object({
  node: z.string(),
  attempt: z.string(),
  budgets: z.tuple([z.string(), z.string()]),
  times: z.int().min(1),
  at: z.string().optional(),
});

/** Undefined where there is none that can be read. */
export const crossedIn = (annotations: Readonly<Record<string, string>> | undefined): Crossed | undefined =>
  annotations?.[CROSSED_ANNOTATION] === undefined
    ? undefined
    : written.safeParse(jsonObject(annotations[CROSSED_ANNOTATION])).data;

/** The value of the annotation. */
export const crossedText = (crossed: Crossed): string => JSON.stringify(crossed);
