/** What a policy comes after: another one, or a place outside of the cluster. */
export type Awaited = string | { readonly external: string };

export const DNS_NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';
/** Characters. */
export const LONGEST_NAME = 253;

export function isAwaited(given: unknown): boolean {
  if (typeof given === 'string') return given.length <= LONGEST_NAME && new RegExp(DNS_NAME).test(given);
  const { external, ...others } = (given ?? {}) as Partial<Record<string, unknown>>;
  return typeof external === 'string' && /^\S{1,253}$/.test(external) && Object.keys(others).length === 0;
}
