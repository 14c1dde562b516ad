import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** From the end of an API server's process to the first time that its successor says that it is ready. Milliseconds since the Unix epoch. */
export interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Every outage of a control plane so far, in order. @param dir its folder */
export async function outagesIn(dir: string): Promise<readonly Outage[]> {
  const text = await readFile(fileIn(dir), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Outage);
}

/** Writes a control plane's outages down, each when it is over. */
export class Outages {
  readonly #dir: string;
  #sinceMs: number | undefined;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** What ends again before it is ready makes no outage of its own. */
  began(atMs: number): void {
    this.#sinceMs ??= atMs;
  }

  over(atMs: number): void {
    if (this.#sinceMs === undefined) return;
    const outage: Outage = { fromMs: this.#sinceMs, toMs: atMs };
    this.#sinceMs = undefined;
    // In one piece, for others read it meanwhile.
    appendFileSync(fileIn(this.#dir), `${JSON.stringify(outage)}\n`);
  }
}

/** Among the logs, which are kept when a scenario fails. */
function fileIn(dir: string): string {
  return join(dir, 'logs', 'outages.log');
}
