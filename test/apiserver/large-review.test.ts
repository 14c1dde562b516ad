import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HttpsWorld } from './https-world.ts';

const LIMIT = 32 << 20;
const START = '{"kind":"ConversionReview","request":{"uid":"r1","objects":["';

let https: HttpsWorld;

beforeEach(async () => {
  https = await HttpsWorld.create({ limits: { requestTimeout: 300_000 } });
});

afterEach(() => https.close());

test('a review that is too large to be read is answered with its uid and the reason', async () => {
  const body = `${START}${'x'.repeat(LIMIT)}"]}}`;
  const { status, body: answer } = await https.send('POST', '/crdconvert', { body });
  expect([status, JSON.parse(answer)]).toMatchObject([
    200,
    { response: { uid: 'r1', result: { status: 'Failed', message: expect.stringContaining(`${LIMIT} bytes`) } } },
  ]);
}, 60_000);
