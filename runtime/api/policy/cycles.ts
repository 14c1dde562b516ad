/**
 * Policies that wait for each other in a cycle. By name of such a policy, the names of all policies on a cycle with it, its own included.
 * @param after by name of a policy, the names of those that it waits for
 */
export function cyclesIn(after: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const reached = new Map([...after.keys()].map((name) => [name, reachableFrom(name, after)]));
  const cycles = new Map<string, readonly string[]>();
  for (const [name, names] of reached) {
    if (!names.has(name)) continue;
    cycles.set(name, [...names].filter((other) => reached.get(other)?.has(name)).toSorted());
  }
  return cycles;
}

function reachableFrom(name: string, after: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(after.get(name));
  // The iteration of a set goes on to what is added meanwhile.
  for (const next of reached) for (const further of after.get(next) ?? []) reached.add(further);
  return reached;
}
