import type { V1Service } from '@kubernetes/client-node';
import type { Pod, Resource } from '../../../runtime/kube/objects.ts';
import { collectionPath, objectPath } from '../../../runtime/kube/paths.ts';
import type { KubeTransport } from '../../../runtime/kube/transport.ts';
import { APISERVER_SERVICE, NAMESPACE } from '../../../runtime/api/shadow/names.ts';
import type { PodPorts } from './ports.ts';
import type { ServiceAddress } from './service.ts';

export type Service = Resource<V1Service>;

/** A pod that is ready, and where its program listens. */
export interface Endpoint {
  readonly pod: Pod;
  readonly ports: PodPorts;
}

/** Ports of this machine to which a Service leads: those of the pods that it selects, at its first port's target. */
export function endpointsOf({ spec }: Service, ready: readonly Endpoint[]): readonly number[] {
  const [first] = spec?.ports ?? [];
  const wanted = Object.entries(spec?.selector ?? {});
  if (!first || wanted.length === 0) return [];
  const selected = ready.filter(({ pod: { metadata } }) =>
    wanted.every(([name, value]) => metadata.labels?.[name] === value),
  );
  return selected.flatMap(({ ports }) => ports.actual(first.targetPort ?? first.port) ?? []);
}

/** A Service of the operator's, as the cluster has it now. @throws the transport's errors */
export async function operatorService(transport: KubeTransport, name = APISERVER_SERVICE): Promise<Service> {
  const services = collectionPath({ version: 'v1', plural: 'services', namespace: NAMESPACE });
  return (await transport.request({ method: 'GET', path: objectPath(services, name) })) as Service;
}

/** Sends the operator's Service to those of its pods that are ready. */
export class ServiceEndpoints {
  readonly #transport: KubeTransport;
  readonly #address: ServiceAddress;
  readonly #name: string;
  #service: Service | undefined;

  /** @param transport one that may read Services */
  constructor(transport: KubeTransport, address: ServiceAddress, name = APISERVER_SERVICE) {
    this.#transport = transport;
    this.#address = address;
    this.#name = name;
  }

  /** Sets the endpoints by the Service as last seen, and again once it is read anew. While the API server does not answer, the first counts. */
  async update(ready: () => readonly Endpoint[]): Promise<void> {
    this.#set(ready);
    this.#service = await operatorService(this.#transport, this.#name).catch(() => this.#service);
    this.#set(ready);
  }

  #set(ready: () => readonly Endpoint[]): void {
    if (this.#service) this.#address.setEndpoints(endpointsOf(this.#service, ready()));
  }
}
