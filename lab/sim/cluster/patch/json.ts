import { fields, isFields, list, text } from '../object.ts';
import { badRequest, StatusError } from '../status.ts';

/**
 * JSON patch (RFC 6902) as far as people write it by hand: fields are added, replaced and removed. Lists are not entered.
 * @throws StatusError 400 where it is none, 422 where it does not apply
 */
export function jsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('expected a JSON patch: an array of operations');
  return list(patch).reduce((document, operation) => {
    const { op, path, value } = fields(operation);
    const [root, ...keys] = text(path).split('/');
    if (root !== '' || !['add', 'replace', 'remove'].includes(text(op))) return refuse();
    return put(document, keys.map(unescaped), op === 'remove' ? undefined : value);
  }, target);
}

const unescaped = (key: string): string => key.replaceAll('~1', '/').replaceAll('~0', '~');

function put(document: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  if (!isFields(document)) return refuse();
  const { [key]: before, ...others } = document;
  const isLost = value === undefined && rest.length === 0;
  if (!isLost) return { ...document, [key]: put(before, rest, value) };
  return before === undefined ? refuse() : others;
}

function refuse(): never {
  const message = 'the server rejected our request due to an error in our request';
  throw new StatusError({ code: 422, reason: 'Invalid', message, details: {} });
}
