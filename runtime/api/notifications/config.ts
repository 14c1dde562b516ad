import * as z from 'zod';
import { KINDS } from './fact.ts';
import { FORMATS } from './formats.ts';
import { namesNode } from './silence.ts';
import { FIELDS, isJsonTemplate, unknownField } from './template.ts';

/** The configuration of notifications in the manifests. Addresses and headers of targets are in Secrets. */

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const text = (pattern: RegExp, expected: string) =>
  z.string(`expected ${expected}`).regex(pattern, `expected ${expected}`);

const list = <T extends z.ZodType>(item: T) =>
  z.array(item, 'expected a list').min(1, 'expected at least one').readonly();

/** An http or https URL with only host and port, because credentials belong into the Secret. */
function isProxyUrl(value: string): boolean {
  if (!/^https?:\/\/[^\s/?#@]+\/?$/.test(value)) return false;
  return URL.canParse(value);
}

const template = z.string('expected some text').superRefine((value, context) => {
  const unknown = unknownField(value);
  const message = `expected only the fields ${FIELDS.join(', ')}`;
  if (unknown !== undefined)
    context.addIssue({ code: 'custom', message: `${message}, not {{${unknown.slice(0, 40)}}}` });
});

const PROXY =
  'expected a proxy such as http://proxy.example.com:3128; credentials belong into the Secret, as its key "proxy"';

/** Fields of a target, in the props and in the controller's file. */
export const targetFields = {
  name: text(DNS_LABEL, 'a name (lower case letters, digits and "-", at most 63)'),
  format: z.enum(FORMATS, `expected one of ${FORMATS.join(', ')}`),
  template: template.optional(),
  kinds: list(z.enum(KINDS, `expected one of ${KINDS.join(', ')}`)).optional(),
  policies: list(z.string('expected the name of a policy').min(1, 'expected the name of a policy')).optional(),
  proxy: z
    .string('expected a proxy such as http://proxy.example.com:3128')
    .refine(isProxyUrl, { message: PROXY, params: { secret: true } })
    .optional(),
} as const;

const matcher = z.strictObject({
  name: text(/^[a-zA-Z_][a-zA-Z0-9_]*$/, 'the name of a label, such as node'),
  value: z
    .string('expected some text')
    .min(1, 'expected some text')
    .refine((value) => !/\{\{/.test(value.replaceAll(/\{\{\s*node\s*\}\}/g, '')), 'expected no field but {{node}}'),
  isRegex: z.boolean('expected true or false').optional(),
});

/** Fields of an Alertmanager, in the props and in the controller's file. */
export const silencerFields = {
  name: targetFields.name,
  matchers: list(matcher)
    .refine(
      (matchers) => matchers.some(({ value }) => namesNode(value)),
      'expected one with {{node}}: others would silence every node',
    )
    .default([{ name: 'node', value: '{{node}}' }]),
  durationInSec: z
    .int('expected a whole number of seconds from 60 to 86400')
    .min(60, 'expected a whole number of seconds from 60 to 86400')
    .max(86_400, 'expected a whole number of seconds from 60 to 86400')
    .default(3600),
  proxy: targetFields.proxy,
} as const;

/** Only the formats `text` and `json` take a template, and `json` needs one. */
export function checkTemplate(
  { format, template: given }: { readonly format: string; readonly template?: string | undefined },
  context: z.RefinementCtx,
): void {
  const message = templateFault(format, given);
  if (message !== undefined) context.addIssue({ code: 'custom', path: ['template'], message });
}

function templateFault(format: string, given: string | undefined): string | undefined {
  if (format === 'json')
    return given !== undefined && isJsonTemplate(given)
      ? undefined
      : 'expected JSON, with fields such as {{message}} in its texts alone';
  return given === undefined || format === 'text'
    ? undefined
    : 'expected nothing: only the formats text and json have a template';
}

const target = z
  .strictObject({ ...targetFields, ca: z.string('expected certificates in PEM').optional() })
  .superRefine(checkTemplate);

const silencer = z.strictObject({ ...silencerFields, ca: z.string('expected certificates in PEM').optional() });

const configSchema = z.strictObject({
  cluster: z.string('expected some text'),
  targets: z.array(target, 'expected a list').readonly(),
  silences: z.array(silencer, 'expected a list').readonly().default([]),
});

export type NotificationTarget = z.output<typeof target>;
export type Silencer = z.output<typeof silencer>;
export type NotificationConfig = z.output<typeof configSchema>;

/** The index of the first target with a name that was used before. */
export function repeatedName(targets: readonly { readonly name: string }[]): number | undefined {
  const names = targets.map(({ name }) => name);
  const index = names.findIndex((name, at) => names.indexOf(name) < at);
  return index < 0 ? undefined : index;
}

/** The file is invalid. Each fault names its field, and contains no value of it. */
export class NotificationConfigError extends Error {
  override readonly name = 'NotificationConfigError';
}

/** @throws NotificationConfigError */
export function parseNotificationConfig(json: string): NotificationConfig {
  const result = configSchema.safeParse(parsed(json));
  if (!result.success) throw new NotificationConfigError(result.error.issues.map(faultOf).join('; '));
  for (const part of ['targets', 'silences'] as const) {
    const repeated = repeatedName(result.data[part]);
    if (repeated !== undefined)
      throw new NotificationConfigError(`${part}.${repeated}.name: expected a name that no other has`);
  }
  return result.data;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new NotificationConfigError('expected JSON');
  }
}

function faultOf({ path, message, ...issue }: z.core.$ZodIssue): string {
  const where = path.map(String).join('.') || '(file)';
  return issue.code === 'unrecognized_keys' ? `${where}: expected no ${issue.keys.join(', ')}` : `${where}: ${message}`;
}
