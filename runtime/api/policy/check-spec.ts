import * as z from 'zod';
import { DNS_NAME } from './awaited.ts';
import { durationMs } from './duration.ts';
import { described, duration, list, text, wholeNumber } from './fields.ts';

const checkName = text('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', {
  expected: 'a name (lower case letters, digits and "-", at most 63)',
  most: 63,
});
const objectName = text(`^[a-z0-9{]([-a-z0-9.:{}]*[a-z0-9}])?$`, { expected: 'the name of an object', most: 253 });

const condition = z.strictObject(
  {
    apiVersion: text('^([a-z0-9.-]{1,253}/)?v[a-z0-9]{1,20}$', {
      expected: 'an apiVersion such as apps/v1',
      most: 275,
    }),
    kind: text('^[A-Z][A-Za-z0-9]{0,62}$', { expected: 'a kind such as Deployment', most: 63 }),
    namespace: described(checkName, 'Of an object that lives in one.').optional(),
    name: objectName,
    type: text('^[A-Za-z0-9./_-]+$', { expected: 'the type of a condition, such as Available', most: 316 }),
    status: described(
      z.enum(['True', 'False', 'Unknown'], 'expected True, False or Unknown'),
      'True by default.',
    ).optional(),
  },
  'expected an object',
);

const bound = z.number('expected a number');
const KINDS = ['job', 'query', 'condition'] as const;

const check = z
  .strictObject(
    {
      name: checkName,
      job: described(
        text(DNS_NAME, { expected: 'the name of a CronJob', most: 52 }),
        "A suspended CronJob in the operator's namespace, of which a Job is made.",
      ).optional(),
      query: described(
        text(String.raw`\S`, { expected: 'a query in PromQL', most: 4096 }),
        'In PromQL. Each value has to be above, or below, the bound.',
      ).optional(),
      above: bound.optional(),
      below: bound.optional(),
      condition: described(condition, 'That an object has to have in its status.').optional(),
      timeout: described(
        duration.refine((given) => durationMs(given) !== 0, 'expected a duration above 0s'),
        'How long a try may take; 10m by default.',
      ).optional(),
      retries: described(wholeNumber(0, 20), 'Tries after the first one that has failed; none by default.').optional(),
      unknown: described(
        z.enum(['Wait', 'Fail', 'Pass'], 'expected Wait, Fail or Pass'),
        'What it means that nobody can say: Wait (default) asks again until the timeout, and has failed then.',
      ).optional(),
    },
    'expected an object',
  )
  .refine((given) => KINDS.filter((kind) => given[kind] !== undefined).length === 1, {
    message: 'expected one of job, query and condition',
  })
  .refine(({ query, above, below }) => (query === undefined) === (above === undefined && below === undefined), {
    message: 'expected above or below with a query, and with nothing else',
  })
  .meta({
    oneOf: [
      { required: ['job'] },
      { required: ['query'], anyOf: [{ required: ['above'] }, { required: ['below'] }] },
      { required: ['condition'] },
    ],
  });

/** A list of checks, each of another name. */
export const checks = (most: number) =>
  list(check, most).refine(
    (given) => new Set(given.map(({ name }) => name)).size === given.length,
    'expected each name once',
  );
