import type { KubeStatus } from '../../../runtime/kube/errors.ts';
import type { ResourceType } from './resources.ts';

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/** A refusal, thrown anywhere below `handle()` and answered there: as a `Status` object, or as plain text. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  readonly status: KubeStatus;
  /** What is answered instead of a `Status` object. */
  readonly text: string | undefined;
  constructor(status: KubeStatus, text?: string) {
    super(status.message);
    this.status = status;
    this.text = text;
  }
}

/** What a refusal is about. */
export interface Subject {
  readonly type: ResourceType;
  readonly name: string;
}

/** `pods`, `leases.coordination.k8s.io`. */
export function qualified(name: string, group: string): string {
  return group === '' ? name : `${name}.${group}`;
}

function resourceDetails({ type, name }: Subject): NonNullable<KubeStatus['details']> & { group?: string } {
  return { name, kind: type.plural, ...(type.group !== '' && { group: type.group }) };
}

export function notFound(subject: Subject): StatusError {
  const message = `${qualified(subject.type.plural, subject.type.group)} "${subject.name}" not found`;
  return new StatusError({ code: 404, reason: 'NotFound', message, details: resourceDetails(subject) });
}

/** The path names nothing that is served. Only the filter after all handlers knows that, and it speaks no JSON. */
export function noSuchPath(): StatusError {
  return new StatusError({ code: 404, reason: 'Not Found' }, '404 page not found\n');
}

export function alreadyExists(subject: Subject): StatusError {
  const message = `${qualified(subject.type.plural, subject.type.group)} "${subject.name}" already exists`;
  return new StatusError({ code: 409, reason: 'AlreadyExists', message, details: resourceDetails(subject) });
}

export const MODIFIED =
  'the object has been modified; please apply your changes to the latest version and try again' as const;

export function conflict(subject: Subject, why: string = MODIFIED): StatusError {
  const what = `${qualified(subject.type.plural, subject.type.group)} "${subject.name}"`;
  const message = `Operation cannot be fulfilled on ${what}: ${why}`;
  return new StatusError({ code: 409, reason: 'Conflict', message, details: resourceDetails(subject) });
}

export function forbidden(subject: Subject, why: string, causes?: readonly Cause[]): StatusError {
  const named = subject.name === '' ? '' : ` "${subject.name}"`;
  const message = `${qualified(subject.type.plural, subject.type.group)}${named} is forbidden: ${why}`;
  const details = { ...resourceDetails(subject), ...(causes && { causes }) };
  return new StatusError({ code: 403, reason: 'Forbidden', message, details });
}

export function invalid(
  { type, name }: { readonly type: Pick<ResourceType, 'kind' | 'group'>; readonly name: string },
  causes: readonly Cause[],
): StatusError {
  const lines = causes.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  const why = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const message = `${qualified(type.kind, type.group)} "${name}" is invalid: ${why}`;
  const details = { name, kind: type.kind, causes, ...(type.group !== '' && { group: type.group }) };
  return new StatusError({ code: 422, reason: 'Invalid', message, details });
}

/** The query of the request, read as options of this kind, is refused. */
export function invalidOptions(kind: string, causes: readonly Cause[]): StatusError {
  return invalid({ type: { kind, group: 'meta.k8s.io' }, name: '' }, causes);
}

export function invalidValue(field: string, value: unknown, why: string): Cause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${JSON.stringify(value)}: ${why}` };
}

export function unsupportedValue(field: string, found: unknown, supported: readonly unknown[]): Cause {
  const values = supported.map((value) => JSON.stringify(String(value))).join(', ');
  const message = `Unsupported value: ${JSON.stringify(found)}: supported values: ${values}`;
  return { reason: 'FieldValueNotSupported', field, message };
}

export function forbiddenValue(field: string, why: string): Cause {
  return { reason: 'FieldValueForbidden', field, message: `Forbidden: ${why}` };
}

export function badRequest(message: string): StatusError {
  return new StatusError({ code: 400, reason: 'BadRequest', message });
}

/** Priority and fairness, whose filter stands before all handlers and speaks no JSON. */
export function turnedAway(): StatusError {
  const text = 'Too many requests, please try again later.\n';
  return new StatusError({ code: 429, reason: 'Too Many Requests', details: { retryAfterSeconds: 1 } }, text);
}

/** The resourceVersion or continue token is older than what is still known. */
export function expired(message: string): StatusError {
  return new StatusError({ code: 410, reason: 'Expired', message });
}

export function internal(message: string): StatusError {
  return new StatusError({ code: 500, reason: 'InternalError', message: `Internal error occurred: ${message}` });
}

export function noEndpoints(service: string): StatusError {
  const message = `no endpoints available for service "${service}"`;
  return new StatusError({ code: 503, reason: 'ServiceUnavailable', message });
}

/** The embedded cluster's own answer to what it lacks. */
export function notImplemented(what: string): StatusError {
  return new StatusError({
    code: 501,
    reason: 'NotImplemented',
    message: `The embedded cluster does not do this: ${what}`,
  });
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError({ code: 405, reason: 'MethodNotAllowed', message, details: {} });
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError({ code: 415, reason: 'UnsupportedMediaType', message });
}

/** The wire form of a refusal. */
export function statusBody(status: KubeStatus): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', ...status };
}

/** The wire form of a success that has no object to show. */
export function success(details?: object, code = 200): object {
  const shown = details === undefined ? { code } : { details };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', ...shown };
}
