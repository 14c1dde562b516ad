/**
 * Exactly semver 2.0.0, without a leading `v`: no leading zeros in numbers, pre-release and build as the grammar has them.
 * @see https://semver.org/spec/v2.0.0.html
 */
export const SEMVER_PATTERN =
  '^(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)\\.(0|[1-9][0-9]*)' +
  '(-(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?' +
  '(\\+[0-9a-zA-Z-]+(\\.[0-9a-zA-Z-]+)*)?$';

const SEMVER = new RegExp(SEMVER_PATTERN);

export function isSemver(text: string): boolean {
  return SEMVER.test(text);
}

/** The version in a node's `status.nodeInfo.osImage`, e.g. `Bottlerocket OS 1.38.0 (aws-k8s-1.33)` or `k3OS v0.11.0`; undefined where it names none. */
export function versionOfOsImage(osImage: string | undefined): string | undefined {
  const word = /^(?:Bottlerocket OS |k3OS v)(\S+)/.exec(osImage ?? '')?.[1];
  return word !== undefined && isSemver(word) ? word : undefined;
}

/** What says which images a node can take. */
interface Imaged {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> | null };
  readonly status?: { readonly nodeInfo?: { readonly osImage?: string } | null } | null;
}

/** The variant is in parentheses in the name of the image, e.g. `Bottlerocket OS 1.38.0 (aws-k8s-1.33)`. k3OS has one. */
export function familyOf({ metadata, status }: Imaged): string {
  const { osImage = '' } = status?.nodeInfo ?? {};
  const variant = osImage.startsWith('k3OS ') ? 'k3os' : (/\(([^)]*)\)/.exec(osImage)?.[1] ?? '');
  return `${variant}/${metadata.labels?.['kubernetes.io/arch'] ?? ''}`;
}

/**
 * Negative, zero or positive as `a` precedes, equals or follows `b` by the precedence of semver 2.0.0; build metadata does not count. It takes
 * every text that SEMVER_PATTERN allows, of any length and with numbers of any size: one odd status must not end a plan.
 */
export function compareSemver(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  const numbers = compareLists(left.core, right.core);
  if (numbers !== 0) return numbers;
  // A version without a pre-release follows every pre-release of it.
  if (left.pre.length === 0 || right.pre.length === 0) return right.pre.length - left.pre.length;
  return compareLists(left.pre, right.pre);
}

function partsOf(version: string): { readonly core: readonly string[]; readonly pre: readonly string[] } {
  const [, core = '', pre = ''] = /^([^-+]*)(?:-([^+]*))?/.exec(version) ?? [];
  return { core: core.split('.'), pre: pre === '' ? [] : pre.split('.') };
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  const index = a.findIndex((item, at) => item !== b[at]);
  const [left, right] = [a[index], b[index]];
  return left === undefined || right === undefined ? a.length - b.length : compareIdentifiers(left, right);
}

/** Numbers by value, whatever their size; texts by code unit; a number precedes a text. */
function compareIdentifiers(a: string, b: string): number {
  const numeric = [a, b].map((text) => /^\d+$/.test(text));
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1;
  if (numeric[0] && a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : Number(a > b);
}

/** Of two versions, the later one. */
export function newerOf(a: string, b: string): string {
  return compareSemver(a, b) < 0 ? b : a;
}
