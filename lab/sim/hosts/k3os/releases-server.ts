import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What can be wrong with a source of releases. */
export const SOURCE_FAULTS = ['away', 'limited', 'garbage', 'hangs'] as const;
export type SourceFault = (typeof SOURCE_FAULTS)[number];

/** As much of GitHub's REST API as tells of releases. */
export class ReleasesServer {
  /** What is wrong with it; undefined = nothing. */
  fault: SourceFault | undefined;
  /** Paths that it was asked for, in order. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #tags: () => readonly string[];

  /** @param tags of its one repository, oldest first */
  constructor(tags: () => readonly string[]) {
    this.#tags = tags;
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ url = '', socket }: IncomingMessage, response: ServerResponse): void {
    this.asked.push(url);
    if (this.fault === 'hangs') return;
    if (this.fault === 'away') return void socket.destroy();
    if (this.fault === 'garbage') return void response.end('<html>');
    if (this.fault === 'limited') return void response.writeHead(429, { 'retry-after': '60' }).end('{}');
    const tag = this.#tagAt(url);
    if (tag === undefined) return void response.writeHead(404).end('{"message":"Not Found"}');
    response.end(JSON.stringify({ tag_name: tag }));
  }

  #tagAt(url: string): string | undefined {
    const [, what = '', tag = ''] = /^\/repos\/rancher\/k3os\/releases\/(latest|tags\/(.+))$/.exec(url) ?? [];
    const tags = this.#tags();
    return what === 'latest' ? tags.at(-1) : tags.find((one) => one === decodeURIComponent(tag));
  }
}
