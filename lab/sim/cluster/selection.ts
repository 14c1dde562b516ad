import type { KubeJson } from './object.ts';
import type { ResourceType } from './resources.ts';
import { type FieldTerm, matchesFields, parseFieldSelector, parseLabelSelector } from './selector.ts';

export interface Selection {
  readonly matches: (object: KubeJson) => boolean;
  /** Set when no object of another name can match. */
  readonly name?: string;
}

export interface Scope {
  readonly type: ResourceType;
  readonly namespace?: string | undefined;
  readonly query: Readonly<Record<string, string>>;
}

/** What a list, a watch or a deletecollection is about. @throws StatusError 400 */
export function select({ type, namespace, query }: Scope): Selection {
  const labels = parseLabelSelector(query['labelSelector'] ?? '');
  const terms = parseFieldSelector(query['fieldSelector'] ?? '', type.kind);
  const name = namedBy(terms);
  return {
    ...(name !== undefined && { name }),
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      matchesFields(object, terms) &&
      labels(object.metadata.labels ?? {}),
  };
}

/** The one name that these terms allow, if they name one. */
export function namedBy(terms: readonly FieldTerm[]): string | undefined {
  return terms.find(({ field, equal }) => field === 'metadata.name' && equal)?.value;
}
