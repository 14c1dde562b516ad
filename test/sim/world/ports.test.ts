import { expect, test } from '@jest/globals';
import type { Pod } from '../../../runtime/kube/objects.ts';
import { PodPorts } from '../../../sim/world/ports.ts';

const PORTS = [
  { name: 'http', containerPort: 9000 },
  { name: 'api', containerPort: 8443 },
  { name: 'unused', containerPort: 7000 },
];

function podWith(env: Readonly<Record<string, string>>): Pod {
  const entries = Object.entries(env).map(([name, value]) => ({ name, value }));
  return { spec: { containers: [{ name: 'main', env: entries, ports: PORTS }] } } as unknown as Pod;
}

test('a named port is where the program listens for it, by what the pod states or by its default', () => {
  const ports = new PodPorts(podWith({ HTTP_PORT: '9000' }), [1001, 1002]);
  expect(['http', 9000, 'api', 8443].map((port) => ports.actual(port))).toEqual([1001, 1001, 1002, 1002]);
  expect(ports.env()).toEqual({ HTTP_PORT: '1001', APISERVER_INTERNAL_PORT: '1002' });
});

test('a program that has no such port is told of none', () => {
  const pod = { spec: { containers: [{ name: 'agent', ports: [{ name: 'http', containerPort: 8080 }] }] } };
  expect(new PodPorts(pod as unknown as Pod, [1001, 1002]).env()).toEqual({ HTTP_PORT: '1001' });
});

test('nobody listens at a port that no variable states, whatever it is called', () => {
  const ports = new PodPorts(podWith({ HTTP_PORT: '8080' }), [1001, 1002]);
  expect(['http', 9000, 'unused', 'absent'].map((port) => ports.actual(port))).toEqual(Array(4).fill(undefined));
});
