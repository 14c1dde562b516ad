import { expect, test } from '@jest/globals';
import { addressOf, routesOf } from './network.ts';

test('a node sends to the pods of another by way of that one, and everything else by way of the control plane', () => {
  const [first, second, third] = [addressOf(1), addressOf(2), addressOf(3)];
  expect(routesOf(second, [first, second, third]).trim().split('\n')).toEqual([
    expect.stringMatching(/^default /),
    `${first.podSubnet} ${first.ip}`,
    `${third.podSubnet} ${third.ip}`,
  ]);
});
