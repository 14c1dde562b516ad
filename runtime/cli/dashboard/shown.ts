import type { Message, Model, NodeRow, Sections } from './wire.ts';

const NOTHING = { sections: {}, nodes: [], gone: [] } as const;

/** What was told last. Out of the next model it makes what has changed: a fleet of a thousand nodes is not told again every two seconds. */
export class Shown {
  #sections = new Map<string, string>();
  #rows = new Map<string, string>();
  #model: Model | undefined;
  #at = 0;
  #trouble: string | undefined;

  /** @param at when the cluster was looked at, milliseconds since the Unix epoch @returns what has changed */
  take(model: Model, at: number): Message {
    const [sections, rows] = [textsOf(Object.entries(model.sections)), textsOf(byName(model.nodes))];
    const changed = Object.entries(model.sections).filter(([name]) => this.#sections.get(name) !== sections.get(name));
    const nodes = model.nodes.filter(({ name }) => this.#rows.get(name) !== rows.get(name));
    const gone = [...this.#rows.keys()].filter((name) => !rows.has(name));
    this.#sections = sections;
    this.#rows = rows;
    this.#model = model;
    this.#at = at;
    this.#trouble = undefined;
    return { at, sections: Object.fromEntries(changed) as Partial<Sections>, nodes, gone };
  }

  /** The cluster could not be looked at. What was seen last stays. */
  fail(trouble: string): Message {
    this.#trouble = trouble;
    return { at: this.#at, trouble, ...NOTHING };
  }

  /** All of it, for whoever comes new, or was away. */
  get whole(): Message {
    const { sections = {}, nodes = [] } = this.#model ?? {};
    return { at: this.#at, trouble: this.#trouble, whole: true, sections, nodes, gone: [] };
  }
}

const byName = (rows: readonly NodeRow[]): [string, NodeRow][] => rows.map((row) => [row.name, row]);

const textsOf = (entries: readonly (readonly [string, unknown])[]): Map<string, string> =>
  new Map(entries.map(([name, value]) => [name, JSON.stringify(value)]));
