import { isIP } from 'node:net';
import * as z from 'zod';
import type { EnvVar, OptionalEnvVar } from '../../runtime/lib/env.ts';

/** The kinds of values that props are made of. Each says what it expects in words that complete "expected ...". */

/** A fault of it keeps nobody from looking at what is around it, so that all faults are reported together. */
const custom = <T>(isOne: (value: unknown) => boolean, expected: string) =>
  z.custom<T>(isOne, { error: expected, abort: false });

/** A whole number that becomes the text of an environment variable; default and limits are the variable's own. */
export function tunable(variable: OptionalEnvVar<number>) {
  return custom<number>((value) => typeof value === 'number' && fits(variable, value), `expected ${variable.expected}`)
    .meta({ ...variable.schema })
    .default(Number(variable.default));
}

/** A count, or text in the syntax of an environment variable; becomes the variable's text. */
export function countOrText(variable: OptionalEnvVar<unknown>) {
  return custom<number | string>(
    (value) => (typeof value === 'number' || typeof value === 'string') && fits(variable, value),
    `expected ${variable.expected}`,
  )
    .meta({ ...variable.schema })
    .default(variable.default);
}

/** Yes or no, with the default of an environment variable. */
export function flagOf(variable: OptionalEnvVar<boolean>) {
  return z.boolean(`expected ${variable.expected}`).default(variable.default === 'true');
}

/** One of the words that an environment variable takes. */
export function choiceOf<V extends string>(variable: OptionalEnvVar<V>) {
  return custom<V>((value) => typeof value === 'string' && fits(variable, value), `expected ${variable.expected}`)
    .meta({ ...variable.schema })
    .default(variable.default as V);
}

/** Text in the syntax of an environment variable. */
export function textIn(variable: EnvVar<unknown>) {
  return custom<string>(
    (value) => typeof value === 'string' && (isToken(value) || fits(variable, value)),
    `expected ${variable.expected}`,
  ).meta({ ...variable.schema });
}

/** The same, with the variable's default. */
export function textOf(variable: OptionalEnvVar<unknown>) {
  return textIn(variable).default(variable.default);
}

function fits(variable: EnvVar<unknown>, value: number | string): boolean {
  return value !== '' && variable.parse(String(value)) !== undefined;
}

/** A port that a container without privileges can listen on and a Service can name: never "any free one". */
export function listenPort(variable: OptionalEnvVar<number>) {
  return portFrom(1024).default(Number(variable.default));
}

export function portFrom(least: number) {
  return wholeNumber({ least, most: 65_535 }, `a port number from ${least} to 65535`);
}

const PERCENTAGE = /^([1-9]|[1-9]\d|100)%$/;

/** A whole number within bounds. */
export const numberFrom = (least: number, most: number) =>
  wholeNumber({ least, most }, `a whole number from ${least} to ${most}`);

export const flag = z.boolean('expected true or false');

export const count = (least: number) => wholeNumber({ least }, `a whole number, ${least} or more`);

/** One or more, or a share of all. */
export const numberOrPercentage = custom<number | string>(
  (value) => (typeof value === 'number' ? Number.isSafeInteger(value) && value > 0 : PERCENTAGE.test(String(value))),
  'expected a whole number, 1 or more, or a percentage such as 10%',
).meta({ type: ['integer', 'string'], pattern: PERCENTAGE.source, minimum: 1 });

interface Bounds {
  readonly least: number;
  readonly most?: number;
}

function wholeNumber({ least, most = Number.MAX_SAFE_INTEGER }: Bounds, expected: string) {
  const isOne = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
  return custom<number>(isOne, `expected ${expected}`).meta({ type: 'integer', minimum: least, maximum: most });
}

/** Compares props only once each of them is valid by itself, so that one mistake is reported once. */
export const afterOwnChecks = (...compared: readonly string[]) => ({
  when: ({ issues }: z.core.ParsePayload) =>
    issues.every(({ path = [] }) => path.length > 0 && !compared.includes(String(path[0]))),
});

/** Looks at the items of a list, or of a map, also where some have faults of their own, so that all are reported together. They may be anything then. */
export const AMONG_ITEMS = { when: ({ value }: z.core.ParsePayload) => typeof value === 'object' && value !== null };

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** Text that a resolver of the app replaces when it is synthesised, as those of the AWS CDK and of CDK for Terraform do. */
const isToken = (text: unknown): boolean => /\$\{Token\[[^\]]+\]\}/.test(String(text));

export const matching = (pattern: RegExp, expected: string) => {
  const message = `expected ${expected}`;
  return z
    .string(message)
    .refine((text) => isToken(text) || pattern.test(text), message)
    .meta({ type: 'string', pattern: pattern.source });
};

/** Namespaces that every cluster has. */
export const SYSTEM_NAMESPACES: ReadonlySet<string> = new Set([
  'default',
  'kube-node-lease',
  'kube-public',
  'kube-system',
]);

export const namespaceOrAny = matching(DNS_LABEL, 'a namespace name (lower case letters, digits and "-", at most 63)');
export const namespaceName = namespaceOrAny.refine(
  (name) => !SYSTEM_NAMESPACES.has(name),
  'expected a namespace of its own (its pods may be privileged, and it is deleted with the operator)',
);
export const objectName = matching(DNS_NAME, 'an object name (lower case letters, digits, "-" and ".", at most 253)');
export const someText = matching(/\S/, 'some text');
const QUANTITY = /^\d+(\.\d+)?(m|[kMGTPE]|[KMGTPE]i)?$/;
/** Text, or a number as YAML makes it of `cpu: 1`. */
export const quantity = custom<string | number>(
  (value) => ['string', 'number'].includes(typeof value) && (isToken(value) || QUANTITY.test(String(value))),
  'expected a quantity such as 10m, 0.5 or 128Mi',
).meta({ type: ['string', 'number'], pattern: QUANTITY.source, minimum: 0 });
/** A lifetime in whole hours, as cert-manager takes it or as Go prints it. */
export const goHours = matching(/^[1-9]\d*h(0m0s)?$/, 'a lifetime in hours such as 2160h');
export const scrapeInterval = matching(/^[1-9]\d*(ms|s|m|h)$/, 'a time such as 30s');
/** A duration in Prometheus' syntax. */
export const retentionTime = matching(/^([1-9]\d*(ms|[smhdwy]))+$/, 'a time such as 24h or 15d');
export const dnsName = matching(
  /^(?=.{1,253}$)(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  'a DNS name such as brupop.example.com, in lower case, whose first part may be "*"',
);
export const domain = matching(DNS_NAME, 'a domain such as cluster.local, in lower case');
/** A CIDR as the API server accepts it in network policies. */
export const cidr = custom<string>(
  (value) => typeof value === 'string' && isCidr(value),
  'expected a range of addresses such as 10.0.0.0/16',
).meta({ type: 'string', pattern: '^[0-9A-Fa-f.:]+/(0|[1-9][0-9]{0,2})$' });

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const longest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return bits !== '' && Number(bits) <= longest;
}
export const absolutePath = matching(/^\/[^\s]*$/, 'an absolute path');

const QUALIFIED_NAME =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$/;

export const qualifiedName = matching(QUALIFIED_NAME, 'a label or annotation key such as example.com/team');
export const labelValue = matching(LABEL_VALUE, 'a label value (letters, digits, "-", "_" and ".", at most 63)');

export const labelMap = z.record(qualifiedName, labelValue);
export const annotationMap = z.record(qualifiedName, z.string('expected some text'));
