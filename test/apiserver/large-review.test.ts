import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { HttpsWorld } from './https-world.ts';

const LIMIT = 4 << 20;
const START = '{"kind":"ConversionReview","request":{"uid":"r1","objects":["';

let https: HttpsWorld;

beforeEach(async () => {
  https = await HttpsWorld.create();
});

afterEach(() => https.close());

test('a review that is too large to be read is answered with its uid and the reason', async () => {
  const body = `${START}${'x'.repeat(2 * LIMIT)}"]}}`;
  const { status, body: answer } = await https.send('POST', '/crdconvert', { body });
  expect([status, JSON.parse(answer)]).toMatchObject([
    200,
    { response: { uid: 'r1', result: { status: 'Failed', message: expect.stringContaining(`${LIMIT} bytes`) } } },
  ]);
});
