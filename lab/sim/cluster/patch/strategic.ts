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

/** Kubernetes' strategic merge patch for built-in types; in which order a list is to be nobody here minds. @throws StatusError 400 */
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
  return result;
}

function retained(target: Fields, keys: unknown): Fields {
  if (keys === undefined) return target;
  return Object.fromEntries(Object.entries(target).filter(([key]) => list(keys).includes(key)));
}

function merged(name: string, current: unknown, value: unknown): unknown {
  if (!Array.isArray(value)) return strategicMergePatch(current, value);
  if (MERGED_VALUES.has(name)) return [...new Set([...list(value), ...list(current)])];
  const mergeKey = MERGE_KEYS[name]?.find((key) => value.every((item) => isFields(item)) && usesKey(value, key));
  if (mergeKey === undefined) return clean(value);
  if (value.some((item) => fields(item)['$patch'] === 'replace'))
    return clean(value.filter((item) => !isReplace(item)));
  return list(value).reduce<readonly unknown[]>((all, item) => mergeItem(all, fields(item), mergeKey), list(current));
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
