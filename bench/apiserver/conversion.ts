import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { PATHS } from '../../runtime/apiserver/protocol.ts';
import { faultOf, mutated } from '../../test/apiserver/fuzz.ts';
import { seeded } from '../../test/sim/hosts/rig.ts';
import type { Bench, BenchContext } from '../bench.ts';
import { quantile } from '../controller/cpu.ts';
import type { Place } from './replica.ts';
import { withStand } from './stand.ts';

const INPUTS = 1_000_000;
const PROGRESS_EVERY = 100_000;
/** Requests under way at once. */
const WORKERS = 16;

export const conversion: Bench = {
  name: 'conversion',
  what: `${INPUTS} mutated reviews and raw bytes over TLS to the conversion webhook: each gets a review, or a 4xx`,
  run: (context) =>
    withStand({ root: context.root, agents: 0 }, async ({ replica }) => {
      const fuzz = new Fuzz(replica.place, context);
      const seconds = await fuzz.run();
      const { reviews, converted, refused, faults, millis } = fuzz;
      return [
        { name: 'inputs', value: fuzz.asked, unit: '' },
        { name: 'answered with a review', value: reviews, unit: '' },
        { name: 'of these converted', value: converted, unit: '' },
        { name: 'answered with a 4xx', value: refused, unit: '' },
        { name: 'anything else, lost connections included', value: faults, unit: '', atMost: 0 },
        { name: 'time', value: seconds, unit: 's' },
        { name: 'median', value: quantile(millis, 0.5), unit: 'ms' },
        { name: 'slowest', value: quantile(millis, 1), unit: 'ms' },
        { name: 'memory at its highest', value: (await replica.memoryMb()).highest, unit: 'MB' },
        { name: 'heap in use afterwards', value: await replica.heapMb(), unit: 'MB' },
      ];
    }),
};

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends inputs, the same in each run, and judges the answers. */
class Fuzz {
  asked = 0;
  reviews = 0;
  converted = 0;
  refused = 0;
  faults = 0;
  readonly millis: number[] = [];
  readonly #place: Place;
  readonly #context: BenchContext;
  readonly #random = seeded(2026);
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
    const context = this.#context;
    while (this.asked < INPUTS && !context.signal.aborted) {
      if (this.asked++ % PROGRESS_EVERY === 0) context.progress(`${this.asked - 1} of ${INPUTS}`);
      const body = mutated(this.#random);
      const began = performance.now();
      const fault = await this.#ask(body).then(
        (answer) => this.#judge(body, answer),
        (error: Error) => error.message,
      );
      this.millis.push(performance.now() - began);
      if (fault === undefined) continue;
      this.faults++;
      context.progress(`${fault}: ${JSON.stringify(body.toString('latin1'))}`);
    }
  }

  /** What is wrong with an answer; undefined where it is as it must be. */
  #judge(body: Buffer, { status, text }: Answer): string | undefined {
    if (status >= 400 && status < 500) {
      this.refused++;
      return undefined;
    }
    if (status !== 200) return `status ${status}`;
    this.reviews++;
    if (text.includes('"Success"')) this.converted++;
    return faultOf(body, text);
  }

  async #ask(body: Buffer): Promise<Answer> {
    const { port, servername, caPem: ca } = this.#place;
    const to = { host: '127.0.0.1', port, servername, ca, agent: this.#agent };
    const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
    const outgoing = request({ ...to, method: 'POST', path: PATHS.crdConvert, headers });
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
