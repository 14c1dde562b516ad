import { Component, createContext, type FunctionComponent, h } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { durationText } from '../../../lib/clock.ts';
import type { NodeRow } from '../wire.ts';
import { appearanceOf, plural, shapeOf, timeText } from './text.ts';

interface AgeProps {
  /** Milliseconds since the Unix epoch. */
  readonly of: number;
  readonly now: number;
}

/** A component that is drawn again only when a prop changes. The clock ticks every second, and there may be a thousand nodes. */
export function memo<P extends object>(draw: FunctionComponent<P>): new (props: P) => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      return (Object.keys(next) as (keyof P)[]).some((name) => next[name] !== (this.props as P)[name]);
    }

    override render() {
      return h(draw, this.props as P);
    }
  };
}

/** How long something has lasted. */
export function Age({ of, now }: AgeProps) {
  return <span class="age">for {durationText(now - of)}</span>;
}

/** A point in time, readable for people and programs. */
export function Time({ of, now }: AgeProps) {
  return <time dateTime={new Date(of).toISOString()}>{timeText(of, now)}</time>;
}

/** The shape of a node's state, in its colour. */
export function Swatch({ row }: { readonly row: NodeRow }) {
  return (
    <span class={`swatch ${appearanceOf(row)}`} aria-hidden="true">
      {shapeOf(row)}
    </span>
  );
}

/** How the whole page shows names of nodes. */
interface Naming {
  /** Selects the node, or closes it where it is selected. */
  readonly select: (name: string) => void;
  /** The name without the part that is the same for all nodes. */
  readonly shorten: (name: string) => string;
  /** A command of kubectl brupop, for this cluster and user. */
  readonly commandOf: (words: string) => string;
}

export const NamingContext = createContext<Naming>({
  select: () => undefined,
  shorten: (name) => name,
  commandOf: (words) => words,
});

/** Commands to run in a terminal, each with a button that copies it. */
export function Commands({ commands }: { readonly commands: readonly string[] }) {
  return (
    <ul class="commands">
      {commands.map((command) => (
        <li key={command}>
          <code>{command}</code>
          <CopyButton text={command} />
        </li>
      ))}
    </ul>
  );
}

function CopyButton({ text }: { readonly text: string }) {
  const [said, say] = useState('Copy');
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => say('Copied'),
      () => say('Not allowed'),
    );
  };
  return (
    <button type="button" class="quiet" aria-label={`Copy: ${text}`} onClick={copy}>
      <span role="status">{said}</span>
    </button>
  );
}

/** Cuts names at the first dot, where the rest is the same for all nodes. */
export function shortenerFor(names: readonly string[]): Naming['shorten'] {
  const domains = new Set(names.map((name) => name.slice(name.indexOf('.'))));
  const [domain = ''] = domains;
  return domains.size === 1 && domain.startsWith('.')
    ? (name) => (name.endsWith(domain) ? name.slice(0, -domain.length) : name)
    : (name) => name;
}

/** A node's name as a button that selects the node. */
export function NodeName({ name }: { readonly name: string }) {
  const { select, shorten } = useContext(NamingContext);
  return (
    <button type="button" class="name" title={name} onClick={() => select(name)}>
      {shorten(name)}
    </button>
  );
}

interface NamesProps {
  readonly names: readonly string[];
  /** The number of all nodes, also of those that are not named. */
  readonly count: number;
  /** A remark on some of the nodes, by name. */
  readonly why?: ReadonlyMap<string, string>;
}

/** The names of the first nodes, and how many more there are. */
export function Names({ names, count, why }: NamesProps) {
  if (names.length === 0) return null;
  return (
    <ul class="names">
      {names.map((name) => (
        <li key={name}>
          <NodeName name={name} />
          {why?.has(name) && <span> {why.get(name)}</span>}
        </li>
      ))}
      {count > names.length && <li>and {plural(count - names.length, 'other')}</li>}
    </ul>
  );
}
