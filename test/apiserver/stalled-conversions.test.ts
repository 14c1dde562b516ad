import { afterEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { Agent } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { eventually } from '../contract/eventually.ts';
import { inTime } from '../in-time.ts';
import { counted, HttpsWorld } from './https-world.ts';

let world: HttpsWorld | undefined;

afterEach(() => world?.close());

describe('conversions, which anybody may ask for,', () => {
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

  test('of one address are ended for those of others, and not the other way round', async () => {
    const shared = await HttpsWorld.create();
    world = shared;
    const body = review('x'.repeat((4 << 20) - 1024));
    const quiet = await begun(shared, '127.0.0.3', body);
    const crowd = [];
    for (let index = 0; index < 6; index++) crowd.push(await begun(shared, '127.0.0.2', body));
    await eventually(async () => expect(await counted(shared, 'Busy')).toBeGreaterThan(0));
    quiet.write(body.slice(-1));
    const [answer] = (await inTime('the answer', once(quiet, 'data'))) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 200 /);
    for (const socket of [quiet, ...crowd]) socket.destroy();
  });

  test('take turns by address: one of another does not wait for all that came before it', async () => {
    const shared = await HttpsWorld.create();
    world = shared;
    const many = review(Array.from({ length: 60_000 }, (_, index) => index));
    const few = review('x');
    const quiet = await begun(shared, '127.0.0.3', few);
    const crowd: TLSSocket[] = [];
    for (let index = 0; index < 12; index++) crowd.push(await begun(shared, '127.0.0.2', many));
    let ended = 0;
    for (const socket of crowd) socket.once('data', () => ended++).write('}');
    await eventually(() => expect(ended).toBeGreaterThan(0));
    quiet.write('}');
    await inTime('the answer', once(quiet, 'data'));
    expect(ended).toBeLessThan(8);
    await eventually(() => expect(ended).toBe(crowd.length));
    for (const socket of [quiet, ...crowd]) socket.destroy();
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

/** A review that lacks its last byte. */
async function begun(https: HttpsWorld, address: string, body: string): Promise<TLSSocket> {
  const socket = await https.socket(address);
  socket.write(`POST /crdconvert HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`);
  await new Promise((resolve) => socket.write(body.slice(0, -1), resolve));
  return socket;
}

/** Of one object as large as what it bears. */
function review(text: unknown): string {
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
