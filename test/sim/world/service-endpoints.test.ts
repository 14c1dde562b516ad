import { expect, test } from '@jest/globals';
import type { Pod } from '../../../runtime/kube/objects.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { PodPorts } from '../../../sim/world/ports.ts';
import type { ServiceAddress } from '../../../sim/world/service.ts';
import { type Endpoint, endpointsOf, type Service, ServiceEndpoints } from '../../../sim/world/service-endpoints.ts';

const SERVICE = serviceTo('api', { app: 'apiserver' });
const READY = [endpoint('apiserver', 1000), endpoint('apiserver', 2000), endpoint('controller', 3000)];

function serviceTo(targetPort: string | number | undefined, selector: Readonly<Record<string, string>>): Service {
  const ports = [{ name: 'https', port: 443, ...(targetPort !== undefined && { targetPort }) }];
  return { metadata: { name: 'brupop-apiserver' }, spec: { selector, ports } };
}

/** A pod that listens at `first` + 1 for HTTP and at `first` + 2 for the API. */
function endpoint(app: string, first: number): Endpoint {
  const ports = [
    { name: 'api', containerPort: 8443 },
    { name: 'http', containerPort: 8080 },
  ];
  const pod = { metadata: { labels: { app } }, spec: { containers: [{ name: 'main', ports }] } } as unknown as Pod;
  return { pod, ports: new PodPorts(pod, [first + 1, first + 2]) };
}

test('a Service leads to the pods that it selects, at the port that it names', () => {
  expect(endpointsOf(SERVICE, READY)).toEqual([1002, 2002]);
  expect(endpointsOf(serviceTo('http', { app: 'controller' }), READY)).toEqual([3001]);
  expect(endpointsOf(serviceTo(8443, { app: 'controller' }), READY)).toEqual([3002]);
});

test('a Service that selects nobody, or nothing, or a port where nobody listens, leads nowhere', () => {
  for (const wrong of [
    serviceTo('api', { app: 'api' }),
    serviceTo('api', {}),
    serviceTo('https', { app: 'apiserver' }),
  ])
    expect(endpointsOf(wrong, READY)).toEqual([]);
  // Its own port, where no target is named.
  expect(endpointsOf(serviceTo(undefined, { app: 'apiserver' }), READY)).toEqual([]);
});

test('while the API server does not answer, the Service as last seen counts', async () => {
  let endpoints: readonly number[] = [];
  const address: ServiceAddress = { port: 0, setEndpoints: (ports) => void (endpoints = ports), close: async () => {} };
  let away = false;
  const transport = {
    request: () => (away ? Promise.reject(new Error('away')) : Promise.resolve(SERVICE)),
  } as unknown as KubeTransport;
  const kept = new ServiceEndpoints(transport, address);
  await kept.update(() => READY.slice(0, 1));
  expect(endpoints).toEqual([1002]);
  away = true;
  await kept.update(() => READY);
  expect(endpoints).toEqual([1002, 2002]);
});
