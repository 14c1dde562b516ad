import type { ServerResponse } from 'node:http';
import type { Message, Model, MessageBody, NodeRow, Sections } from './wire.ts';

export interface MessageSource {
  /** The whole model, for a page that has just connected, or that has missed messages. */
  whole(): MessageBody;
  /** The clock of the program, milliseconds since the Unix epoch. */
  now(): number;
}

/**
 * The connection of one page. While the page does not read, nothing more is written, so at most one message waits in memory. Afterwards the
 * page gets the whole model again.
 */
export class Listener {
  readonly #response: ServerResponse;
  readonly #source: MessageSource;
  #isBehind = false;
  #hasMissed = false;

  constructor(response: ServerResponse, source: MessageSource) {
    this.#response = response;
    this.#source = source;
    response.on('drain', () => this.#caughtUp());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#write(source.whole());
  }

  send(body: MessageBody): void {
    if (this.#isBehind) this.#hasMissed = true;
    else this.#write(body);
  }

  close(): void {
    this.#response.end();
  }

  #caughtUp(): void {
    this.#isBehind = false;
    if (!this.#hasMissed) return;
    this.#hasMissed = false;
    this.#write(this.#source.whole());
  }

  #write(body: MessageBody): void {
    const message: Message = { ...body, now: this.#source.now() };
    this.#isBehind = !this.#response.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}

const NOTHING = { sections: {}, nodes: [], gone: [] } as const;

/** Makes the messages to pages. Each holds only what differs from the last model, because a whole one of a thousand nodes is large. */
export class Messages {
  #sections = new Map<string, string>();
  #rows = new Map<string, string>();
  #model: Model | undefined;
  #at = 0;
  #trouble: string | undefined;

  /** The message on what has changed. @param at when the model was read, milliseconds since the Unix epoch */
  changed(model: Model, at: number): MessageBody {
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

  /** The message that the cluster cannot be read. The last model stays. */
  failed(trouble: string): MessageBody {
    this.#trouble = trouble;
    return { at: this.#at, trouble, ...NOTHING };
  }

  /** The message with the whole model, for a page that is new or has missed messages. */
  get whole(): MessageBody {
    const { sections = {}, nodes = [] } = this.#model ?? {};
    return { at: this.#at, trouble: this.#trouble, whole: true, sections, nodes, gone: [] };
  }
}

const byName = (rows: readonly NodeRow[]): [string, NodeRow][] => rows.map((row) => [row.name, row]);

const textsOf = (entries: readonly (readonly [string, unknown])[]): Map<string, string> =>
  new Map(entries.map(([name, value]) => [name, JSON.stringify(value)]));
