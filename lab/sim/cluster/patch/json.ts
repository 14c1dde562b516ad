import { isDeepStrictEqual } from 'node:util';
import { fields, isFields, list, text } from '../object.ts';
import { badRequest, StatusError } from '../status.ts';

/** What to do with the child that a pointer ends at. `undefined` as a result removes it; `insert` makes room in an array. */
interface Edit {
  readonly insert: boolean;
  apply(current: unknown): unknown;
}

/**
 * JSON patch (RFC 6902), as the API server's library has it: what is replaced need not be there.
 * @throws StatusError 400 where it is none, 422 where it does not apply
 */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('expected a JSON patch: an array of operations');
  return list(patch).reduce((document, operation) => step(document, fields(operation)), target);
}

function step(document: unknown, operation: Readonly<Record<string, unknown>>): unknown {
  const path = pointer(operation['path']);
  const value = operation['value'];
  switch (operation['op']) {
    case 'add':
      return edit(document, path, { insert: true, apply: () => value });
    case 'replace':
      return edit(document, path, { insert: false, apply: () => value });
    case 'remove':
      return edit(document, path, {
        insert: false,
        apply: (current) => (current === undefined ? refuse() : undefined),
      });
    case 'test':
      return isDeepStrictEqual(read(document, path), value) ? document : refuse();
    case 'copy':
      return edit(document, path, { insert: true, apply: () => read(document, pointer(operation['from'])) });
    case 'move':
      return move(document, pointer(operation['from']), path);
    default:
      return refuse();
  }
}

function move(document: unknown, from: readonly string[], path: readonly string[]): unknown {
  const value = read(document, from);
  if (value === undefined) return refuse();
  const without = edit(document, from, { insert: false, apply: () => undefined });
  return edit(without, path, { insert: true, apply: () => value });
}

function pointer(path: unknown): readonly string[] {
  const [root, ...rest] = text(path).split('/');
  if (root !== '') return refuse();
  return rest.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function read(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => {
    if (Array.isArray(inner)) return (inner as unknown[])[Number(key)];
    return isFields(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined;
  }, value);
}

function edit(value: unknown, path: readonly string[], change: Edit): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change.apply(value);
  const inner: Edit = rest.length === 0 ? change : { insert: false, apply: (child) => edit(child, rest, change) };
  if (Array.isArray(value)) return editArray(value, key, inner);
  if (!isFields(value)) return refuse();
  const result: Record<string, unknown> = { ...value };
  const child = inner.apply(Object.hasOwn(value, key) ? value[key] : undefined);
  if (child === undefined) delete result[key];
  else result[key] = child;
  return result;
}

function editArray(value: readonly unknown[], key: string, change: Edit): unknown[] {
  const index = key === '-' ? value.length : Number(key);
  const last = change.insert ? value.length : value.length - 1;
  if (!/^(-|0|[1-9]\d*)$/.test(key) || index > last) return refuse();
  const child = change.apply(change.insert ? undefined : value[index]);
  return value.toSpliced(index, change.insert ? 0 : 1, ...(child === undefined ? [] : [child]));
}

function refuse(): never {
  const message = 'the server rejected our request due to an error in our request';
  throw new StatusError({ code: 422, reason: 'Invalid', message, details: {} });
}
