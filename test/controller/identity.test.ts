import { expect, test } from '@jest/globals';
import { newIdentity } from '../../runtime/controller/manager.ts';

const POD = { MY_POD_NAME: 'controller-x', MY_NODE_NAME: 'n1' };

test('each start of the process is another holder', () => {
  expect(newIdentity(POD, Math.random).identity).not.toBe(newIdentity(POD, Math.random).identity);
});

test('the process before in the same pod is known to be dead, one in another pod is not', () => {
  const { isPredecessor } = newIdentity(POD, Math.random);
  expect(isPredecessor(newIdentity(POD, Math.random).identity)).toBe(true);
  expect(isPredecessor(newIdentity({ ...POD, MY_POD_NAME: 'controller-xy' }, Math.random).identity)).toBe(false);
});

test('without a name of the pod nobody is known to be dead', () => {
  const nameless = { ...POD, MY_POD_NAME: '' };
  expect(newIdentity(nameless, Math.random).isPredecessor(newIdentity(nameless, Math.random).identity)).toBe(false);
});
