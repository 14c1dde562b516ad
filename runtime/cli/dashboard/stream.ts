import type { ServerResponse } from 'node:http';
import type { Message } from './wire.ts';

/**
 * One page that listens. What it has not read yet is one message at most: while it does not read, nothing more is written, and afterwards it
 * is told all anew.
 */
export class Listener {
  readonly #response: ServerResponse;
  readonly #whole: () => Message;
  #isBehind = false;
  #hasMissed = false;

  /** @param whole what is to be told to whoever knows nothing */
  constructor(response: ServerResponse, whole: () => Message) {
    this.#response = response;
    this.#whole = whole;
    response.on('drain', () => this.#caughtUp());
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#write(whole());
  }

  tell(message: Message): void {
    if (this.#isBehind) this.#hasMissed = true;
    else this.#write(message);
  }

  close(): void {
    this.#response.end();
  }

  #caughtUp(): void {
    this.#isBehind = false;
    if (!this.#hasMissed) return;
    this.#hasMissed = false;
    this.#write(this.#whole());
  }

  #write(message: Message): void {
    this.#isBehind = !this.#response.write(`data: ${JSON.stringify(message)}\n\n`);
  }
}
