/** The plan uses `Map.groupBy`, which Node 20 lacks. Users may have Node 20; all other programs run on the image's Node. `lib` in tsconfig.json leaves out `Object.groupBy`. */
function groupBy<K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

if (!('groupBy' in Map)) Object.assign(Map, { groupBy });
