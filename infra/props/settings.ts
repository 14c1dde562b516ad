import { type Chart, Lazy } from 'cdk8s';
import type * as z from 'zod';
import { type BrupopProps, brupopProps, type Settings } from './brupop.ts';
import { nearest } from '../../runtime/lib/nearest.ts';
import { namespaceName } from './fields.ts';

/** Props that do not fit; one fault per prop with its path, what was expected and what came. */
export class InvalidPropsError extends Error {
  override readonly name = 'InvalidPropsError';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(`The props have ${faults.length} fault(s):\n${faults.map((line) => `  ${line}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Checks `props` and completes them with the defaults.
 * @param chart that they are for: its namespace, where it has one, and its labels
 * @throws InvalidPropsError naming every fault
 * @internal
 */
export function settingsOf(props: BrupopProps, chart: Pick<Chart, 'namespace' | 'labels'> = { labels: {} }): Settings {
  const { namespace } = chart;
  const schema =
    namespace === undefined ? brupopProps : brupopProps.safeExtend({ namespace: namespaceName.prefault(namespace) });
  const settings = checkProps(schema, props);
  return { ...settings, labels: { ...chart.labels, ...settings.labels } };
}

/** @throws InvalidPropsError naming every fault @internal */
export function checkProps<T extends z.ZodType>(schema: T, props: z.input<T>): z.output<T> {
  const result = schema.safeParse(produced(props), { reportInput: true, error: inWords });
  if (result.success) return result.data;
  throw new InvalidPropsError(result.error.issues.flatMap((issue) => faultsOf(issue, props)));
}

/** Props with what each Lazy in them stands for, which has to be known by now. */
function produced(value: unknown, within: readonly object[] = []): unknown {
  if (value instanceof Lazy) return value.produce();
  if (typeof value !== 'object' || value === null || within.includes(value)) return value;
  const inner = [...within, value];
  if (Array.isArray(value)) return value.map((one) => produced(one, inner));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, produced(one, inner)]));
}

const TYPES: Readonly<Record<string, string>> = { object: 'an object', record: 'an object', array: 'a list' };

/** The words for a prop of the wrong type, where its schema has none of its own, and for each that does not exist, a line. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => noSuchProp(key, issue.inst)).join('\n');
  return issue.code === 'invalid_type' ? `expected ${TYPES[issue.expected] ?? issue.expected}` : undefined;
}

function noSuchProp(key: string, schema: unknown): string {
  const shape = shapeOf(schema);
  const inGroups = Object.entries(shape).flatMap(([group, inner]) =>
    key in shapeOf(inner) ? [`${group}.${key}`] : [],
  );
  const meant = nearest(key, Object.keys(shape)) ?? inGroups.join(' or ');
  return `expected no such prop${meant === '' ? '' : `: did you mean ${meant}?`}`;
}

/** The props of an object's schema, also with a default; none of any other. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> {
  const { shape, innerType } = (schema as { readonly _zod?: { readonly def: SchemaDef } } | undefined)?._zod?.def ?? {};
  return shape ?? (innerType === undefined ? {} : shapeOf(innerType));
}

interface SchemaDef {
  readonly shape?: Readonly<Record<string, unknown>>;
  readonly innerType?: unknown;
}

function faultsOf(issue: z.core.$ZodIssue, props: unknown): string[] {
  const path = pathText(issue.path);
  if (issue.code === 'unrecognized_keys') {
    // The value is not shown: nobody knows what it was meant for.
    const lines = issue.message.split('\n');
    return issue.keys.map((key, index) => `${pathText([...issue.path, key])}: ${lines[index]}`);
  }
  if (issue.code === 'invalid_key') return [`${path}: ${issue.issues[0]?.message ?? issue.message}`];
  return [`${path}: ${issue.message}, got ${given(issue, valueAt(props, issue.path))}`];
}

function given(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) {
    const meant = defaultIn(issue);
    return meant === undefined ? 'nothing' : `nothing, which means ${shown(meant)}`;
  }
  const isSecret = issue.code === 'custom' && issue.params?.['secret'] === true;
  return isSecret ? 'something that is not shown: it may be a private key' : shown(value);
}

/** The default of a prop that is not given. Rules that compare props get the object that holds them. */
function defaultIn({ input, path }: z.core.$ZodIssue): unknown {
  return typeof input === 'object' ? valueAt(input, path.slice(-1)) : input;
}

function valueAt(props: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key], props);
}

function pathText(path: readonly PropertyKey[]): string {
  return path.map((key) => (typeof key === 'string' && isLong(key) ? shown(key) : String(key))).join('.') || '(props)';
}

/** The longest text that a fault repeats, in characters. Names and numbers are shorter; keys and tokens are not. */
const LONGEST_SHOWN = 100;

const isLong = (text: string): boolean => text.length > LONGEST_SHOWN || text.includes('\n');

/** At most one line. Objects are not shown: they may be circular, large, or secret. */
function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return isLong(value) ? `a text of ${value.length} characters` : JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
