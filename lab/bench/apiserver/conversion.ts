import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { convertBytes } from '../../../runtime/apiserver/conversion.ts';
import { PUBLIC_PATHS } from '../../../runtime/apiserver/config.ts';
import { faultOf, mutated } from '../../../test/apiserver/fuzz.ts';
import { seeded } from '../../../test/random.ts';
import type { Bench, BenchContext } from '../bench.ts';
import type { Place } from './replica.ts';
import { withStand } from './stand.ts';

const INPUTS = 1_000_000;
const PROGRESS_EVERY = 100_000;
/** Requests under way at once. */
const WORKERS = 16;

export const conversion: Bench = {
  name: 'conversion',
  what: `${INPUTS} mutated reviews and raw bytes to the conversion webhook, in this process and over TLS: each gets a review, or a 4xx`,
  run: (context) =>
    withStand({ root: context.root, agents: 0 }, async ({ replica }) => {
      const converted = convertAll(context);
      const asked = new Asked(replica.place, context);
      const seconds = await asked.run();
      return [
        { name: 'inputs', value: INPUTS, unit: '' },
        { name: 'of them converted, the others refused', value: converted.successes, unit: '' },
        { name: 'crashes and wrong answers', value: converted.faults, unit: '', atMost: 0 },
        { name: 'time', value: converted.seconds, unit: 's' },
        { name: 'over TLS: answered with a 4xx', value: asked.refused, unit: '' },
        { name: 'over TLS: any other answer than above, or none', value: asked.faults, unit: '', atMost: 0 },
        { name: 'over TLS: time', value: seconds, unit: 's' },
        { name: 'over TLS: memory at its highest', value: (await replica.memoryMb()).highest, unit: 'MB' },
        { name: 'over TLS: heap in use afterwards', value: await replica.heapMb(), unit: 'MB' },
      ];
    }),
};

/** The same inputs in each run. */
const inputs = (): (() => Buffer) => {
  const random = seeded(2026);
  return () => mutated(random);
};

/** Has every input converted as the route does, in this process. */
function convertAll(context: BenchContext): { successes: number; faults: number; seconds: number } {
  const began = performance.now();
  const next = inputs();
  let [successes, faults] = [0, 0];
  for (let index = 0; index < INPUTS && !context.signal.aborted; index++) {
    if (index % PROGRESS_EVERY === 0) context.progress(`${index} of ${INPUTS}`);
    const body = next();
    const answer = convertBytes(body);
    if (answer.includes('"Success"')) successes++;
    const fault = faultOf(body, answer);
    if (fault === undefined) continue;
    faults++;
    context.progress(`${fault}: ${JSON.stringify(body.toString('latin1'))}`);
  }
  return { successes, faults, seconds: (performance.now() - began) / 1000 };
}

/** Sends the same inputs to an apiserver and compares its answers. */
class Asked {
  refused = 0;
  faults = 0;
  #asked = 0;
  readonly #place: Place;
  readonly #context: BenchContext;
  readonly #next = inputs();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: WORKERS });

  constructor(place: Place, context: BenchContext) {
    this.#place = place;
    this.#context = context;
  }

  /** Seconds that it took. */
  async run(): Promise<number> {
    const began = performance.now();
    await Promise.all(Array.from({ length: WORKERS }, () => this.#work()));
    this.#agent.destroy();
    return (performance.now() - began) / 1000;
  }

  async #work(): Promise<void> {
    while (this.#asked < INPUTS && !this.#context.signal.aborted) {
      if (this.#asked++ % PROGRESS_EVERY === 0) this.#context.progress(`${this.#asked - 1} of ${INPUTS} over TLS`);
      const body = this.#next();
      const answer = await this.#ask(body).catch((error: Error) => ({ status: 0, text: error.message }));
      if (answer.status >= 400 && answer.status < 500) this.refused++;
      else if (answer.status !== 200 || answer.text !== convertBytes(body)) {
        this.faults++;
        this.#context.progress(`${answer.status} ${answer.text}: ${JSON.stringify(body.toString('latin1'))}`);
      }
    }
  }

  async #ask(body: Buffer): Promise<{ status: number; text: string }> {
    const { port, servername, caPem: ca } = this.#place;
    const to = { host: '127.0.0.1', port, servername, ca, agent: this.#agent };
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const outgoing = request({ ...to, method: 'POST', path: PUBLIC_PATHS.crdConvert, headers });
    outgoing.end(body);
    const [incoming] = await once(outgoing, 'response');
    return { status: incoming.statusCode, text: await textOf(incoming) };
  }
}

async function textOf(chunks: AsyncIterable<Buffer>): Promise<string> {
  const read: Buffer[] = [];
  for await (const chunk of chunks) read.push(chunk);
  return Buffer.concat(read).toString('utf8');
}
