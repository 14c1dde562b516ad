import type { Store } from './store.ts';
import { badRequest, StatusError } from './status.ts';

type Query = Readonly<Record<string, string>>;

const NUMBERS = ['limit', 'timeoutSeconds'];

/** Reads the options of a list or a watch as far as they can be wrong. @throws StatusError 400, 500 */
export function checkListOptions(query: Query, watching: boolean): void {
  for (const name of NUMBERS) {
    const given = query[name] ?? '';
    if (given !== '' && !/^[-+]?\d+$/.test(given)) throw badRequest(noNumber('ParseInt', given));
  }
  if (watching) requireVersion(query);
  else if (!isVersion(query)) throw badRequest(`invalid resource version: ${noVersion(query)}`);
}

/** A read at a version that is yet to come waits for it, in vain. @throws StatusError 500, 504 */
export function requireReached(store: Store, query: Query): void {
  requireVersion(query);
  const { resourceVersion = '' } = query;
  if (Number(resourceVersion) <= store.version) return;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  const message = `Timeout: Too large resource version: ${resourceVersion}, current: ${store.version}`;
  throw new StatusError({ code: 504, reason: 'Timeout', message, details: { retryAfterSeconds: 1, causes } });
}

function requireVersion(query: Query): void {
  if (!isVersion(query)) throw new StatusError({ code: 500, message: noVersion(query) });
}

function isVersion({ resourceVersion = '' }: Query): boolean {
  return /^\d*$/.test(resourceVersion);
}

function noVersion({ resourceVersion = '' }: Query): string {
  const why = noNumber('ParseUint', resourceVersion);
  return `resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: ${why}`;
}

function noNumber(parser: string, given: string): string {
  return `strconv.${parser}: parsing ${JSON.stringify(given)}: invalid syntax`;
}
