import type { Message, NodeRow, Sections } from '../wire.ts';

/** State of the connection to `kubectl brupop dashboard`. `refused`: the server does not accept the token. */
export type Link = 'connecting' | 'open' | 'lost' | 'refused';

/** What the page knows. */
export interface State {
  readonly link: Link;
  /** When the cluster was last read, milliseconds since the Unix epoch. */
  readonly at: number;
  readonly trouble: string | undefined;
  /** Undefined until the first message. */
  readonly sections: Sections | undefined;
  /** By name, in numeric order: node-2 before node-10. */
  readonly nodes: ReadonlyMap<string, NodeRow>;
}

export const NOTHING: State = {
  link: 'connecting',
  at: 0,
  trouble: undefined,
  sections: undefined,
  nodes: new Map(),
};

/** Applies a message. Parts that have not changed stay the same objects, so that they are not drawn again. */
export function applied(state: State, { at, trouble, whole, sections, nodes, gone }: Message): State {
  const known = whole ? undefined : state.sections;
  const isSame = !whole && nodes.length === 0 && gone.length === 0;
  return {
    link: 'open',
    at,
    trouble,
    sections: Object.keys(sections).length === 0 ? known : ({ ...known, ...sections } as Sections),
    nodes: isSame ? state.nodes : merged(whole ? new Map() : state.nodes, nodes, gone),
  };
}

const { compare } = new Intl.Collator('en', { numeric: true });

function merged(known: State['nodes'], rows: readonly NodeRow[], gone: readonly string[]): State['nodes'] {
  const hasNew = rows.some(({ name }) => !known.has(name));
  const next = new Map(known);
  for (const name of gone) next.delete(name);
  for (const row of rows) next.set(row.name, row);
  return hasNew ? new Map([...next].toSorted(([a], [b]) => compare(a, b))) : next;
}
