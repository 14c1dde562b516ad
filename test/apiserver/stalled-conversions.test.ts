import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent } from 'node:https';
import { type Holding, MemoryBound } from '../../runtime/apiserver/http/memory-bound.ts';
import { eventually } from '../contract/eventually.ts';
import { counted, HttpsWorld } from './https-world.ts';

let world: HttpsWorld | undefined;

afterEach(() => world?.close());

describe('conversions, which anybody may ask for,', () => {
  const make = (bound: MemoryBound, gone: string[], name: string): Holding => bound.hold(() => void gone.push(name));

  test('keep no more in memory than the bound: those that began first make way, and the youngest has room', () => {
    const bound = new MemoryBound(100);
    const gone: string[] = [];
    const [first, second, third] = ['first', 'second', 'third'].map((name) => make(bound, gone, name));
    first?.keep(40);
    second?.keep(40);
    third?.keep(20);
    expect(gone).toEqual([]);
    third?.keep(30);
    expect(gone).toEqual(['first']);
    third?.keep(50);
    expect(gone).toEqual(['first', 'second']);
  });

  test('that have to make way themselves are refused, and give back what they kept, once', () => {
    const bound = new MemoryBound(100);
    const gone: string[] = [];
    const [first, second] = ['first', 'second'].map((name) => make(bound, gone, name));
    first?.keep(60);
    second?.keep(40);
    expect(() => first?.keep(1)).toThrow(expect.objectContaining({ status: 503, reason: 'Busy' }));
    first?.release();
    second?.keep(60);
    expect(gone).toEqual([]);
    second?.release();
    make(bound, gone, 'third').keep(100);
    expect(gone).toEqual([]);
  });

  test('are answered at once, however many others stall while they are sent or read', async () => {
    const busy = await HttpsWorld.create();
    world = busy;
    const body = review('x'.repeat((4 << 20) - 1024));
    // Half of them never send their last bytes, and half never read what they get.
    const stalled = [];
    for (const sent of [body.slice(0, -1), body, body.slice(0, -1), body, body.slice(0, -1), body]) {
      const socket = await busy.socket();
      socket.pause();
      socket.write(`POST /crdconvert HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
      await new Promise((resolve) => socket.write(sent, resolve));
      stalled.push(socket);
    }
    await eventually(async () => expect(await counted(busy, 'Busy')).toBeGreaterThan(0));
    const reply = await busy.send('POST', '/crdconvert', { body });
    expect(reply.body).toContain('"Success"');
    for (const socket of stalled) socket.destroy();
  });

  test('hold nothing once they have ended: the connection that one came on is kept for the next', async () => {
    const kept = await HttpsWorld.create();
    world = kept;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const body = review('x'.repeat(3 << 20));
    for (let index = 0; index < 6; index++)
      expect((await kept.send('POST', '/crdconvert', { body, tls: { agent } })).body).toContain('"Success"');
    agent.destroy();
  });

  test('that are too large to be read are answered with their uid and the reason', async () => {
    const limit = 4 << 20;
    world = await HttpsWorld.create();
    const body = `{"kind":"ConversionReview","request":{"uid":"r1","objects":["${'x'.repeat(2 * limit)}"]}}`;
    const { status, body: answer } = await world.send('POST', '/crdconvert', { body });
    const result = { status: 'Failed', message: expect.stringContaining(`${limit} bytes`) };
    expect([status, JSON.parse(answer)]).toMatchObject([200, { response: { uid: 'r1', result } }]);
  });
});

/** Of one object as large as the text. */
function review(text: string): string {
  const object = {
    apiVersion: 'brupop.bottlerocket.aws/v1',
    kind: 'BottlerocketShadow',
    metadata: { name: 'n', labels: { text } },
    spec: { state: 'Idle' },
  };
  return JSON.stringify({
    request: { uid: 'r1', desiredAPIVersion: 'brupop.bottlerocket.aws/v2', objects: [object] },
  });
}
