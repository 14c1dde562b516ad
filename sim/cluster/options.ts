import type { WriteOptions } from './admission.ts';
import { at, fields, list, text } from './object.ts';
import type { DeleteOptions } from './remove.ts';
import type { Call } from './request.ts';
import { badRequest } from './status.ts';

type Query = Readonly<Record<string, string>>;

const VALIDATIONS = ['Ignore', 'Warn', 'Strict'] as const;

/** How a create, update or patch is to be made. @throws StatusError 400 */
export function writeOptions({ query, verb }: Pick<Call, 'query' | 'verb'>): WriteOptions {
  const asked = query['fieldValidation'] || 'Warn';
  const fieldValidation = VALIDATIONS.find((value) => value === asked);
  if (!fieldValidation) throw badRequest(`fieldValidation: expected one of ${VALIDATIONS.join(', ')}, got "${asked}"`);
  return { dryRun: dryRun(query), fieldValidation, warnings: [], patch: verb === 'patch' };
}

/** DeleteOptions come in the body or, some of them, in the query. @throws StatusError 400 */
export function deleteOptions(body: unknown, query: Query): DeleteOptions {
  const given = fields(body);
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
    dryRun: dryRun(query) || list(given['dryRun']).includes('All'),
  };
}

function dryRun(query: Query): boolean {
  const asked = query['dryRun'] ?? '';
  if (asked !== '' && asked !== 'All') throw badRequest(`dryRun: supported values: "All", got "${asked}"`);
  return asked === 'All';
}
