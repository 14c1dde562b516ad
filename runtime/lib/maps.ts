interface Gettable<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): unknown;
}

/** What the map has for the key; where it has nothing, what is made for it now. `Map.prototype.getOrInsertComputed`, which Node has yet to get. */
export function getOrInsert<K, V>(map: Gettable<K, V>, key: K, make: (key: K) => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}
