import { notAcceptable, notImplemented } from './status.ts';

/** The forms of an answer, beside that of the objects themselves. */
const FORMS = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;

const JSON_TYPES = ['application/json', 'application/*', '*/*'];
const OTHER_TYPES = ['application/yaml', 'application/vnd.kubernetes.protobuf'];

/**
 * The form that an Accept header asks for: its first media type that can be served decides.
 * @returns undefined for objects as they are
 * @throws StatusError 406, 501 for what the API server answers in other than JSON
 */
export function wantedForm(accept = ''): (typeof FORMS)[number] | undefined {
  if (accept === '' || accept === JSON_TYPES[0]) return undefined;
  const asked = accept.split(',').map(mediaType);
  const served = asked.find(({ type, as }) => JSON_TYPES.includes(type) && (as === undefined || isForm(as)));
  if (served) return FORMS.find((form) => form === served.as);
  const other = asked.find(({ type }) => OTHER_TYPES.includes(type));
  if (other) throw notImplemented(`answers in ${other.type}`);
  throw notAcceptable(`only the following media types are accepted: ${[JSON_TYPES[0], ...OTHER_TYPES].join(', ')}`);
}

interface MediaType {
  readonly type: string;
  /** With its group and version, where it names any. */
  readonly as: string | undefined;
}

function mediaType(range: string): MediaType {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const named = Object.fromEntries(parameters.map((parameter) => parameter.split('=', 2)));
  const { as, g = '', v = '' } = named as Readonly<Record<string, string | undefined>>;
  return { type, as: as !== undefined && `${g}/${v}` !== 'meta.k8s.io/v1' ? `${as}.${v}.${g}` : as };
}

function isForm(name: string): boolean {
  return FORMS.some((form) => form === name);
}
