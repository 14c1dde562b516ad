import type { Store } from './store.ts';
import { badRequest, type Cause, forbiddenValue, invalidOptions, StatusError, unsupportedValue } from './status.ts';

type Query = Readonly<Record<string, string>>;

const NUMBERS = ['limit', 'timeoutSeconds'];
const MATCHES = ['Exact', 'NotOlderThan'];

/** Reads the options of a list, a watch or a deletecollection as far as they can be wrong. @throws StatusError 400, 422, 500 */
export function checkListOptions(query: Query, watching: boolean): void {
  for (const name of NUMBERS) {
    const given = query[name] ?? '';
    if (given !== '' && !/^[-+]?\d+$/.test(given)) throw badRequest(noNumber('ParseInt', given));
  }
  const causes = watching ? watchFaults(query) : listFaults(query);
  if (causes.length > 0) throw invalidOptions('ListOptions', causes);
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

function listFaults({ resourceVersionMatch: match = '', resourceVersion = '', ...query }: Query): readonly Cause[] {
  return [
    ...unless(
      match === '' || resourceVersion !== '',
      MATCH,
      `${MATCH} is forbidden unless resourceVersion is provided`,
    ),
    ...unless(match === '' || !query['continue'], MATCH, `${MATCH} is forbidden when continue is provided`),
    ...unless(
      match !== 'Exact' || resourceVersion !== '0',
      MATCH,
      `${MATCH} "exact" is forbidden for resourceVersion "0"`,
    ),
    ...(match === '' || MATCHES.includes(match) ? [] : [unsupportedValue(MATCH, match, MATCHES)]),
    ...unless(query[INITIAL] === undefined, INITIAL, `${INITIAL} is forbidden for list`),
  ];
}

function watchFaults({ resourceVersionMatch: match = '', ...query }: Query): readonly Cause[] {
  const initial = query[INITIAL] !== undefined;
  return [
    ...unless(!initial || match === 'NotOlderThan', MATCH, `${INITIAL} requires setting ${MATCH} to NotOlderThan`),
    ...unless(match === '' || initial, MATCH, `${MATCH} is forbidden for watch unless ${INITIAL} is provided`),
    ...(match === '' || match === 'NotOlderThan' ? [] : [unsupportedValue(MATCH, match, ['NotOlderThan'])]),
  ];
}

const MATCH = 'resourceVersionMatch';
const INITIAL = 'sendInitialEvents';

function unless(fine: boolean, field: string, why: string): readonly Cause[] {
  return fine ? [] : [forbiddenValue(field, why)];
}
