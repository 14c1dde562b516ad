import * as z from 'zod';
import { jsonObject } from '../../../lib/json.ts';
import { type Fact, isOfNodes, KINDS, TEST_KIND } from '../../../api/notifications/fact.ts';
import { SILENCE_ID } from '../../../api/notifications/silence.ts';
import type { Memory } from './memory.ts';

/** The memory as text in the ConfigMap. People may edit it there, so everything that is read is checked. */

/** Bytes of the waiting facts of all targets together, and number of silences. With what was told they stay below the 1 MiB of a ConfigMap. */
const FACT_BYTES = 250_000;
const SILENCES = 2000;

const fact = z.object({
  id: z.string(),
  kind: z.enum([...KINDS, TEST_KIND]),
  severity: z.enum(['info', 'warning']),
  time: z.string(),
  message: z.string(),
  node: z.string().exactOptional(),
  together: z.object({ count: z.number(), nodes: z.array(z.string()), first: z.string() }).exactOptional(),
  policy: z.string().exactOptional(),
  family: z.string().exactOptional(),
  version: z.string().exactOptional(),
});

const silenced = z.object({ id: z.string().regex(SILENCE_ID).exactOptional(), endsAt: z.number() });

const storedSchema = z.object({
  told: z
    .record(z.string(), z.tuple([z.string(), z.number()]))
    .optional()
    .catch(undefined),
  facts: z.array(z.unknown()).catch([]),
  /** Ids, by target. */
  waiting: z.record(z.string(), z.array(z.string())).catch({}),
  silences: z.record(z.string(), z.record(z.string(), silenced)).catch({}),
});

/** A fact that waits for several targets is written once. Where not all fit, those of nodes go first, and the oldest before the newest. */
export function written({ told, waiting, silences }: Memory): string {
  const facts = fitting(waiting);
  const ids = [...waiting].map(([target, list]) => [target, list.flatMap(({ id }) => (facts.has(id) ? id : []))]);
  const made = [...silences].map(([name, nodes]) => {
    const newest = [...nodes].slice(-Math.floor(SILENCES / silences.size));
    return [name, Object.fromEntries(newest)];
  });
  return JSON.stringify({
    ...(told && { told: Object.fromEntries(told) }),
    facts: [...facts.values()],
    waiting: Object.fromEntries(ids),
    silences: Object.fromEntries(made),
  });
}

/** By id. */
function fitting(waiting: Memory['waiting']): ReadonlyMap<string, Fact> {
  const all = [...waiting.values()].flat();
  const bytes = new Map<string, number>();
  // The id of a fact stands in the list of each target that it waits for.
  for (const one of all) bytes.set(one.id, (bytes.get(one.id) ?? bytesOf(one)) + bytesOf(one.id) + 1);
  const lastFirst = [...new Map(all.map((one) => [one.id, one])).values()]
    .toReversed()
    .toSorted(
      (a, b) => Number(isOfNodes(a)) - Number(isOfNodes(b)) || (a.time < b.time ? 1 : a.time > b.time ? -1 : 0),
    );
  const facts = new Map<string, Fact>();
  let room = FACT_BYTES;
  for (const one of lastFirst) {
    room -= bytes.get(one.id) ?? 0;
    if (room < 0) break;
    facts.set(one.id, one);
  }
  return facts;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1;

/** A part that cannot be read is left out. */
export function read(text: string | undefined): Memory {
  const { told, facts, waiting, silences } = storedSchema.parse(jsonObject(text));
  const known = facts.flatMap((one): Fact | readonly Fact[] => fact.safeParse(one).data ?? []);
  const byId = new Map(known.map((one) => [one.id, one]));
  const lists = Object.entries(waiting).map(
    ([target, ids]) => [target, ids.flatMap((id) => byId.get(id) ?? [])] as const,
  );
  const made = Object.entries(silences).map(([name, nodes]) => [name, new Map(Object.entries(nodes))] as const);
  return { told: told && new Map(Object.entries(told)), waiting: new Map(lists), silences: new Map(made) };
}
