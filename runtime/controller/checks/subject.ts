import type { ClusterConnection } from '../../kube/in-cluster.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CheckAnswer, CheckTry } from '../plan/facts/checks.ts';

/** Whom checks are asked of. */
export interface Asked extends ClusterConnection {
  readonly clock: Clock;
  /** Empty = there is none. */
  readonly prometheusUrl: string;
}

export const unknown = (message: string): CheckAnswer => ({ kind: 'unknown', message });

/** What the check is about, by the names that a query and the name of an object may have in double braces. */
export function subjectOf({ about: { family, version, policy, nodes } }: Pick<CheckTry, 'about'>): Subject {
  const cut = family.lastIndexOf('/');
  return { version, variant: family.slice(0, cut), arch: family.slice(cut + 1), policy, nodes };
}

interface Subject {
  readonly version: string;
  readonly variant: string;
  readonly arch: string;
  readonly policy: string;
  readonly nodes: readonly string[];
}

/** The text with `{{version}}` and the like filled in; nodes are parted by `|`, as a regular expression has them. */
export function filledIn(text: string, one: Pick<CheckTry, 'about'>): string {
  const { nodes, ...subject } = subjectOf(one);
  const words = new Map(Object.entries({ ...subject, nodes: nodes.join('|') }));
  return text.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => words.get(name) ?? whole);
}
