import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { durationText, plural, timeText } from './text.ts';

interface AgeProps {
  /** Milliseconds since the Unix epoch. */
  readonly of: number;
  readonly now: number;
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
  /** What is said of some of them, by name. */
  readonly why?: ReadonlyMap<string, string>;
}

const NAMED = 4;

/** The first of the nodes, each to be looked at. */
export function Names({ names, why }: NamesProps) {
  if (names.length === 0) return null;
  return (
    <ul class="names">
      {names.slice(0, NAMED).map((name) => (
        <li key={name}>
          <NodeName name={name} />
          {why?.has(name) && <span> {why.get(name)}</span>}
        </li>
      ))}
      {names.length > NAMED && <li>and {plural(names.length - NAMED, 'other')}</li>}
    </ul>
  );
}
