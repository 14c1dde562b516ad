import { Component, createContext, type FunctionComponent, h } from 'preact';
import { useContext } from 'preact/hooks';
import { durationText } from '../../../lib/clock.ts';
import { plural, timeText } from './text.ts';

interface AgeProps {
  /** Milliseconds since the Unix epoch. */
  readonly of: number;
  readonly now: number;
}

/** Draws again only where a prop is another one: the clock ticks every second, and there may be a thousand nodes. */
export function kept<P extends object>(draw: FunctionComponent<P>): new (props: P) => Component<P> {
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

/** A moment, for people and programs. */
export function Time({ of, now }: AgeProps) {
  return <time dateTime={new Date(of).toISOString()}>{timeText(of, now)}</time>;
}

/** What all of the page knows of nodes by their names. */
interface Naming {
  /** Goes to the node, or leaves it. */
  readonly select: (name: string) => void;
  /** Without what is the same for all. */
  readonly shorten: (name: string) => string;
}

export const NamingContext = createContext<Naming>({ select: () => undefined, shorten: (name) => name });

/** What comes after the first dot says nothing where it is the same for all. */
export function shortenerFor(names: readonly string[]): Naming['shorten'] {
  const domains = new Set(names.map((name) => name.slice(name.indexOf('.'))));
  const [domain = ''] = domains;
  return domains.size === 1 && domain.startsWith('.')
    ? (name) => (name.endsWith(domain) ? name.slice(0, -domain.length) : name)
    : (name) => name;
}

/** A node's name, by which one comes to it. */
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
  /** How many there are, those that are not named included. */
  readonly count: number;
  /** What is said of some of them, by name. */
  readonly why?: ReadonlyMap<string, string>;
}

/** The first of the nodes, each to be looked at. */
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
