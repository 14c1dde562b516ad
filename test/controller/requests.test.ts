import { expect, test } from '@jest/globals';
import { Stage } from './stage.ts';

test('the update of a node costs the controller few requests', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
  const stage = await Stage.with(...names);
  let requests = 0;
  stage.start({
    transport: {
      request: (request) => {
        requests += 1;
        return stage.transport.request(request);
      },
      watch: (request) => stage.transport.watch(request),
    },
  });
  for (const name of names) {
    await stage.pass(0);
    await stage.update(name);
  }
  await stage.pass();
  const renewals = stage.clock.monotonic() / 2000;
  expect(await stage.slots()).toEqual([]);
  // A renewal of the Lease is one request, and three where a slot was swapped in between.
  expect((requests - 3 * renewals) / names.length).toBeLessThan(30);
  await stage.end();
});
