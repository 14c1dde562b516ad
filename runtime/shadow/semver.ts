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

/** The version in a node's `status.nodeInfo.osImage`, e.g. `Bottlerocket OS 1.38.0 (aws-k8s-1.33)`; undefined where it names none. */
export function versionOfOsImage(osImage: string | undefined): string | undefined {
  const word = /^Bottlerocket OS (\S+)/.exec(osImage ?? '')?.[1];
  return word !== undefined && isSemver(word) ? word : undefined;
}
