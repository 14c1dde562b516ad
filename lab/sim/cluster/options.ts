import type { WriteOptions } from './candidate.ts';
import { validate } from './crd/validate.ts';
import { DELETE_OPTIONS } from './kinds/structures.ts';
import { at, fields, type Fields, list, text, withoutNulls } from './object.ts';
import type { DeleteOptions } from './remove.ts';
import type { Call } from './request.ts';
import { badRequest, invalidOptions, unsupportedValue } from './status.ts';

type Query = Readonly<Record<string, string>>;

const OPTIONS: Readonly<Record<string, string>> = { update: 'UpdateOptions', patch: 'PatchOptions' };
const VALIDATIONS = ['Ignore', 'Warn', 'Strict'] as const;

/** How a create, update or patch is to be made. @throws StatusError 422 */
export function writeOptions({ query, verb }: Pick<Call, 'query' | 'verb'>): WriteOptions {
  const asked = query['fieldValidation'] || 'Warn';
  const fieldValidation = VALIDATIONS.find((value) => value === asked);
  const kind = OPTIONS[verb] ?? 'CreateOptions';
  if (!fieldValidation) throw invalidOptions(kind, [unsupportedValue('fieldValidation', asked, VALIDATIONS)]);
  return { dryRun: dryRun(query, kind), fieldValidation, warnings: [], patch: verb === 'patch' };
}

/** DeleteOptions come in the body or, some of them, in the query. @throws StatusError 400, 422 */
export function deleteOptions(body: unknown, query: Query): DeleteOptions {
  const given = structured(body);
  const grace = given['gracePeriodSeconds'] ?? query['gracePeriodSeconds'];
  const policy = text(given['propagationPolicy']) || query['propagationPolicy'];
  const orphan = given['orphanDependents'] === true ? 'Orphan' : undefined;
  return {
    gracePeriodSeconds: grace === undefined ? undefined : Number(grace),
    propagationPolicy: policy || orphan,
    preconditions: {
      uid: text(at(given, 'preconditions', 'uid')) || undefined,
      resourceVersion: text(at(given, 'preconditions', 'resourceVersion')) || undefined,
    },
    dryRun: dryRun(query, 'DeleteOptions') || list(given['dryRun']).includes('All'),
  };
}

function structured(body: unknown): Fields {
  const clean = withoutNulls(fields(body)) as Fields;
  const [fault] = validate(DELETE_OPTIONS, clean);
  if (fault) throw badRequest(`DeleteOptions: ${fault.field}: ${fault.message}`);
  return clean;
}

function dryRun(query: Query, kind: string): boolean {
  const found = query['dryRun'] ?? '';
  if (found !== '' && found !== 'All') throw invalidOptions(kind, [unsupportedValue('dryRun', found, ['All'])]);
  return found === 'All';
}
