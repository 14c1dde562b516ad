/** Whether a candidate still fails in the same way. */
export type Fails<T> = (items: readonly T[]) => Promise<boolean>;

/**
 * Those of the items that a failure needs: none of them can be left out any more (Zeller's delta debugging). What is returned fails, where
 * the items did: a failure that only chance brings may need others than those that are found.
 */
export async function needed<T>(items: readonly T[], fails: Fails<T>): Promise<readonly T[]> {
  if (items.length === 0 || (await fails([]))) return [];
  let kept = items;
  for (let parts = 2; kept.length > 1;) {
    const smaller = await withoutOnePart(kept, { parts, fails });
    if (smaller) {
      kept = smaller;
      parts = Math.max(2, parts - 1);
    } else if (parts >= kept.length) {
      break;
    } else {
      parts = Math.min(kept.length, parts * 2);
    }
  }
  return kept;
}

async function withoutOnePart<T>(
  items: readonly T[],
  { parts, fails }: { readonly parts: number; readonly fails: Fails<T> },
): Promise<readonly T[] | undefined> {
  const size = Math.ceil(items.length / parts);
  for (let from = 0; from < items.length; from += size) {
    const rest = [...items.slice(0, from), ...items.slice(from + size)];
    if (rest.length > 0 && (await fails(rest))) return rest;
  }
  return undefined;
}

/** The least number, from 1 up, that still fails, by halves of the way down; `most` where no smaller one does. */
export async function fewest(most: number, fails: (count: number) => Promise<boolean>): Promise<number> {
  let least = most;
  for (let step = Math.floor(most / 2); step > 0; step = Math.floor(step / 2)) {
    while (least - step >= 1 && (await fails(least - step))) least -= step;
  }
  return least;
}
