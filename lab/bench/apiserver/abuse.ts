import { once } from 'node:events';
import { request } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type ConnectionOptions } from 'node:tls';
import { HEADERS, PATHS } from '../../../runtime/api/agent/protocol.ts';
import { PUBLIC_PATHS } from '../../../runtime/apiserver/config.ts';
import { GROUP } from '../../../runtime/api/shadow/names.ts';
import { CORPUS } from '../../../test/apiserver/fuzz.ts';
import type { Bench, BenchContext, Figure } from '../bench.ts';
import { quantile } from '../controller/cpu.ts';
import type { Endpoint, Replica } from './replica.ts';
import { type Identity, type Stand, withStand } from './stand.ts';

const MIB = 2 ** 20;
const [V1, V2] = [`${GROUP}/v1`, `${GROUP}/v2`];
/** For how long each is kept up, with a conversion as the Kubernetes API asks for them every 50 ms. */
const SECONDS = 10;
/** The container has 256 MiB, of which some is the kernel's. */
const MOST_MB = 240;

interface Abuse {
  readonly name: string;
  /** Begins it on these sockets; who has to be an agent is one. */
  readonly begin: (endpoint: Endpoint, agent: Identity) => readonly Socket[];
}

const OBJECT = `${JSON.stringify({ apiVersion: V1, kind: 'BottlerocketShadow', metadata: {}, spec: { state: 'Idle' } })},`;
const OBJECTS = Buffer.from(OBJECT.repeat(500));
/** What takes the most memory for its size. */
const BRACKETS = Buffer.alloc(64 * 1024, '[');
/** Down to one that is smaller than any review, so that not even that has room beside them. */
const SIZES = [
  ...Array<number>(16).fill(4 * MIB),
  ...[21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9].map((n) => 2 ** n),
];

const ABUSES: readonly Abuse[] = [
  { name: 'a review of 24 MiB of objects', begin: (endpoint) => [review(endpoint, OBJECTS, 24 * MIB)] },
  { name: 'a review of 32 MiB of objects', begin: (endpoint) => [review(endpoint, OBJECTS, 32 * MIB)] },
  { name: '64 reviews of 4 MiB of objects', begin: (endpoint) => times(64, () => review(endpoint, OBJECTS, 4 * MIB)) },
  {
    name: '64 reviews of 4 MiB of brackets',
    begin: (endpoint) => times(64, () => review(endpoint, BRACKETS, 4 * MIB)),
  },
  {
    name: '64 reviews of 2 MiB of objects within each other',
    begin: (endpoint) => times(64, () => whole(endpoint, DEEP)),
  },
  { name: '64 reviews of 4 MiB of names in one object', begin: (endpoint) => times(64, () => whole(endpoint, NAMES)) },
  { name: '64 reviews of as many names as may be', begin: (endpoint) => times(64, () => whole(endpoint, FEWER_NAMES)) },
  {
    name: '1,400 connections that ask for metrics 40 times and read nothing',
    begin: (endpoint) => times(1_400, () => metered(endpoint)),
  },
  { name: '2 reviews of 32 MiB that stall', begin: (endpoint) => times(2, () => stalled(endpoint, 32 * MIB)) },
  { name: 'reviews of all sizes that stall', begin: (endpoint) => SIZES.map((size) => stalled(endpoint, size)) },
  { name: '200 answers of 3 MiB that nobody reads', begin: (endpoint) => times(200, () => unread(endpoint)) },
  {
    name: '3,000 drains pipelined on one connection',
    begin: (endpoint, agent) => [pipelined(endpoint, drainOf(agent), 3_000)],
  },
  { name: '300,000 pings pipelined on 30', begin: (endpoint) => times(30, () => pipelined(endpoint, PING, 10_000)) },
  { name: '3,000 connections to the port of probes', begin: (endpoint) => times(3_000, () => plain(endpoint)) },
  {
    name: '30,000 metrics pipelined on 30',
    begin: (endpoint) => times(30, () => plain(endpoint, METRICS.repeat(1_000))),
  },
];

const DEEP = `${'{"34":'.repeat(300_000)}0${'}'.repeat(300_000)}`;
const names = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"${index.toString(36)}":0`).join(',');
const named = (count: number): string =>
  `${OBJECT.slice(0, -2).replace('"metadata":{}', `"metadata":{${names(count)}}`)}}`;
const NAMES = named(471_000);
const FEWER_NAMES = named(74_900);

const PING = `GET ${PUBLIC_PATHS.ping} HTTP/1.1\r\nHost: a\r\n\r\n`;
const METRICS = `GET ${PUBLIC_PATHS.metrics} HTTP/1.1\r\nHost: a\r\n\r\n`;

export const apiserverAbuse: Bench = {
  name: 'apiserver abuse',
  what: `one replica in its 256 MiB while strangers, or one agent, ask for too much; and what the Kubernetes API waits for it meanwhile`,
  run: async (context) => {
    const figures: Figure[] = [];
    for (const abuse of ABUSES) figures.push(...(await measured(context, abuse)));
    return figures;
  },
};

/** Each on a replica of its own: what a process has once needed, it does not give back. */
async function measured(context: BenchContext, { name, begin }: Abuse): Promise<readonly Figure[]> {
  context.progress(name);
  return withStand({ root: context.root, agents: 1 }, async ({ objects, replica, agents: [agent] }: Stand) => {
    if (!agent) throw new Error('expected an agent');
    await objects.addPod('web-1', { node: agent.nodeName });
    const memory = new Memory(replica);
    const sockets = begin(replica.endpoint, agent);
    for (const socket of sockets) socket.on('error', () => undefined);
    const conversions = await converted(replica);
    await memory.look();
    for (const socket of sockets) socket.destroy();
    const failed = conversions.filter((ms) => ms === Infinity).length;
    return [
      { name: `${name}: replicas that ended`, value: replica.isRunning ? 0 : 1, unit: '', atMost: 0 },
      { name: `${name}: memory at its highest`, value: memory.highest, unit: 'MiB', atMost: MOST_MB },
      {
        name: `${name}: conversions of others that failed`,
        value: failed,
        unit: `of ${conversions.length}`,
        atMost: 0,
      },
      { name: `${name}: slowest of the others`, value: quantile(conversions.filter(Number.isFinite), 1), unit: 'ms' },
      { name: `${name}: probes that failed`, value: memory.unanswered, unit: '', atMost: 0 },
    ];
  });
}

/** Milliseconds of each conversion that is asked for meanwhile; Infinity for one that failed. */
async function converted(replica: Replica): Promise<readonly number[]> {
  const asked: Promise<number>[] = [];
  for (let left = SECONDS * 20; left > 0 && replica.isRunning; left--) {
    asked.push(convert(replica.endpoint).catch(() => Infinity));
    await sleep(50);
  }
  return Promise.all(asked);
}

async function convert({ port, servername, caPem: ca }: Endpoint): Promise<number> {
  const began = performance.now();
  const target = { host: '127.0.0.1', port, servername, ca, agent: false, timeout: 30_000 };
  const outgoing = request({ ...target, method: 'POST', path: PUBLIC_PATHS.crdConvert });
  outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
  outgoing.end(CORPUS[0]);
  const [incoming] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return text.includes('"Success"') ? performance.now() - began : Infinity;
}

/** The most memory that it had, as long as it could be asked; and how often it did not answer a probe. */
class Memory {
  highest = 0;
  unanswered = 0;
  readonly #replica: Replica;
  readonly #timer: NodeJS.Timeout;

  constructor(replica: Replica) {
    this.#replica = replica;
    this.#timer = setInterval(() => void this.#follow(), 200);
  }

  async look(): Promise<void> {
    clearInterval(this.#timer);
    await this.#follow();
  }

  async #follow(): Promise<void> {
    if (!this.#replica.isRunning) return;
    const { highest } = await this.#replica.memoryMb().catch(() => ({ highest: 0 }));
    this.highest = Math.max(this.highest, highest || 0);
    // What the kubelet allows a probe.
    const probe = fetch(`http://127.0.0.1:${this.#replica.endpoint.httpPort}/healthz`, {
      signal: AbortSignal.timeout(5_000),
    });
    await probe.catch(() => this.unanswered++);
  }
}

const times = (count: number, begin: () => Socket): readonly Socket[] => Array.from({ length: count }, begin);

/** Not that of the Kubernetes API, or of the probes. */
const STRANGER = '127.0.0.2';

function open({ port, servername, caPem: ca }: Endpoint): Socket {
  return connect({ host: '127.0.0.1', port, servername, ca, localAddress: STRANGER } as ConnectionOptions);
}

const START = `{"request":{"uid":"u","desiredAPIVersion":"${V2}","objects":[`;

/** Headers and the beginning of a review of `size` bytes. */
function begun(endpoint: Endpoint, size: number): Socket {
  const socket = open(endpoint);
  socket.write(`POST ${PUBLIC_PATHS.crdConvert} HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${START}`);
  return socket;
}

/** A review of `piece`, which ends with a comma or may be cut anywhere, over and over. */
function review(endpoint: Endpoint, piece: Buffer, size: number): Socket {
  const end = `${OBJECT.slice(0, -1)}]}}`;
  const socket = begun(endpoint, size);
  let left = size - START.length - end.length;
  const more = (): void => {
    while (left >= piece.length && !socket.destroyed) {
      left -= piece.length;
      if (!socket.write(piece)) return void socket.once('drain', more);
    }
    if (!socket.destroyed) socket.write(' '.repeat(left) + end);
    left = 0;
  };
  more();
  return socket.resume();
}

/** A review of one object. */
function whole(endpoint: Endpoint, object: string): Socket {
  const socket = begun(endpoint, START.length + object.length + 3);
  socket.write(`${object}]}}`);
  return socket.resume();
}

/** Asks again every quarter of a second. */
function metered(endpoint: Endpoint): Socket {
  const socket = open(endpoint);
  let left = 40;
  const timer = setInterval(() => {
    if (left-- === 0 || socket.destroyed) clearInterval(timer);
    else socket.write(METRICS);
  }, 250);
  socket.on('close', () => clearInterval(timer));
  return socket.pause();
}

/** All but the last byte. */
function stalled(endpoint: Endpoint, size: number): Socket {
  const socket = begun(endpoint, size);
  socket.write(Buffer.alloc(size - START.length - 1, ' '));
  return socket.resume();
}

function unread(endpoint: Endpoint): Socket {
  const metadata = { labels: { a: 'x'.repeat(3 * MIB) } };
  const object = JSON.stringify({ apiVersion: V1, kind: 'BottlerocketShadow', metadata, spec: { state: 'Idle' } });
  const socket = begun(endpoint, START.length + object.length + 3);
  socket.write(`${object}]}}`);
  return socket.pause();
}

function pipelined(endpoint: Endpoint, asked: string, count: number): Socket {
  const socket = open(endpoint);
  socket.write(asked.repeat(count));
  return socket.pause();
}

function drainOf({ nodeName, nodeUid, token }: Identity): string {
  const headers = [`${HEADERS.nodeName}: ${nodeName}`, `${HEADERS.nodeUid}: ${nodeUid}`, `${HEADERS.token}: ${token}`];
  return `POST ${PATHS.cordonAndDrain} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\nContent-Length: 0\r\n\r\n`;
}

function plain({ httpPort }: Endpoint, asked = 'GET /'): Socket {
  const socket = connectPlain({ host: '127.0.0.1', port: httpPort, localAddress: STRANGER });
  socket.write(asked);
  return socket.pause();
}
