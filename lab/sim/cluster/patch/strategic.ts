import { fields, type Fields, isFields, list } from '../object.ts';
import { badRequest } from '../status.ts';

/** By name of the list: the field that tells its elements apart. Lists that are not here are replaced as a whole. */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  addresses: ['type'],
  conditions: ['type'],
  containers: ['name'],
  env: ['name'],
  ephemeralContainers: ['name'],
  hostAliases: ['ip'],
  imagePullSecrets: ['name'],
  initContainers: ['name'],
  ownerReferences: ['uid'],
  podIPs: ['ip'],
  ports: ['containerPort', 'port'],
  secrets: ['name'],
  topologySpreadConstraints: ['topologyKey'],
  volumeDevices: ['devicePath'],
  volumeMounts: ['mountPath'],
  volumes: ['name'],
  volumesAttached: ['name'],
};
/** Lists of plain values that are merged and not replaced. */
const MERGED_VALUES = new Set(['finalizers']);

const RETAIN_KEYS = '$retainKeys';
const DELETE_VALUES = '$deleteFromPrimitiveList/';
const ELEMENT_ORDER = '$setElementOrder/';

/** Kubernetes' strategic merge patch for built-in types. @throws StatusError 400 */
export function strategicMergePatch(target: unknown, patch: unknown): unknown {
  if (!isFields(patch)) return patch;
  if (patch['$patch'] === 'replace') return clean(patch);
  if (patch['$patch'] === 'delete') return {};
  const result: Record<string, unknown> = { ...retained(fields(target), patch[RETAIN_KEYS]) };
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith(DELETE_VALUES)) {
      const name = key.slice(DELETE_VALUES.length);
      result[name] = list(result[name]).filter((item) => !list(value).includes(item));
    } else if (value === null) delete result[key];
    else if (!key.startsWith('$')) result[key] = merged(key, result[key], value);
  }
  return { ...result, ...reordered(result, fields(target), patch) };
}

/** The lists whose order the patch states. */
function reordered(result: Fields, target: Fields, patch: Fields): Fields {
  const orders = Object.entries(patch).flatMap(([key, wanted]) => {
    const name = key.slice(ELEMENT_ORDER.length);
    if (!key.startsWith(ELEMENT_ORDER) || !(name in result)) return [];
    return [[name, inOrder(list(result[name]), list(wanted), { before: list(target[name]), name })] as const];
  });
  return Object.fromEntries(orders);
}

function retained(target: Fields, keys: unknown): Fields {
  if (keys === undefined) return target;
  return Object.fromEntries(Object.entries(target).filter(([key]) => list(keys).includes(key)));
}

function merged(name: string, current: unknown, value: unknown): unknown {
  if (!Array.isArray(value)) return strategicMergePatch(current, value);
  if (MERGED_VALUES.has(name))
    return inOrder([...new Set([...list(current), ...list(value)])], value, { before: list(current), name });
  const mergeKey = MERGE_KEYS[name]?.find((key) => value.every((item) => isFields(item)) && usesKey(value, key));
  if (mergeKey === undefined) return clean(value);
  if (value.some((item) => fields(item)['$patch'] === 'replace'))
    return clean(value.filter((item) => !isReplace(item)));
  const items = list(value).reduce<readonly unknown[]>(
    (all, item) => mergeItem(all, fields(item), mergeKey),
    list(current),
  );
  return inOrder(items, value, { before: list(current), name });
}

/** The items that are wanted, in that order; the others go before the first of them that they stood before. */
function inOrder(
  items: readonly unknown[],
  wanted: readonly unknown[],
  { before, name }: { readonly before: readonly unknown[]; readonly name: string },
): unknown[] {
  const idOf = (item: unknown): unknown => {
    const key = MERGE_KEYS[name]?.find((candidate) => candidate in fields(item));
    return key === undefined ? item : fields(item)[key];
  };
  const placeIn = (all: readonly unknown[], item: unknown): number =>
    all.findIndex((candidate) => idOf(candidate) === idOf(item));
  const others = items.filter((item) => placeIn(wanted, item) < 0);
  const isLater = (item: unknown, other: unknown): boolean =>
    placeIn(before, other) >= 0 && placeIn(before, other) < placeIn(before, item);
  const sorted: unknown[] = [];
  for (const item of wanted.flatMap((one) => items.filter((candidate) => idOf(candidate) === idOf(one)))) {
    while (others.length > 0 && isLater(item, others[0])) sorted.push(others.shift());
    sorted.push(item);
  }
  return [...sorted, ...others];
}

function isReplace(item: unknown): boolean {
  return fields(item)['$patch'] === 'replace' && Object.keys(fields(item)).length === 1;
}

function usesKey(items: readonly unknown[], key: string): boolean {
  return items.every((item) => fields(item)[key] !== undefined || isReplace(item));
}

function mergeItem(items: readonly unknown[], item: Fields, mergeKey: string): readonly unknown[] {
  const key = item[mergeKey];
  if (key === undefined)
    throw badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`);
  const index = items.findIndex((candidate) => fields(candidate)[mergeKey] === key);
  if (item['$patch'] === 'delete') return index < 0 ? items : items.toSpliced(index, 1);
  if (index < 0) return [...items, strategicMergePatch({}, item)];
  return items.with(index, strategicMergePatch(items[index], item));
}

/** Directives are for the server and never stored. */
function clean(value: unknown): unknown {
  if (Array.isArray(value)) return list(value).map(clean);
  if (!isFields(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !key.startsWith('$'));
  return Object.fromEntries(kept.map(([key, inner]) => [key, clean(inner)]));
}
