import { Collection } from './collection.ts';
import type { Lease } from './objects.ts';
import { collectionPath } from './paths.ts';
import type { KubeTransport } from './transport.ts';

/** What a new Lease is made of. */
export interface NewLease {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: Lease['spec'];
}

/** Leases of one namespace, live. */
export interface LeasePort {
  /** Undefined where there is none of that name. */
  get(name: string, signal?: AbortSignal): Promise<Lease | undefined>;
  /** @throws ConflictError (reason AlreadyExists) */
  create(lease: NewLease, signal?: AbortSignal): Promise<Lease>;
  /** Compare-and-swap of the whole object, by the resourceVersion that was read. @throws ConflictError, NotFoundError */
  update(lease: Lease, signal?: AbortSignal): Promise<Lease>;
}

const GROUP = 'coordination.k8s.io';

export function leasePort(transport: KubeTransport, namespace: string): LeasePort {
  const path = collectionPath({ group: GROUP, version: 'v1', plural: 'leases', namespace });
  const leases = new Collection<Lease>(transport, path);
  return {
    get: (name, signal) => leases.get(name, signal),
    create: (lease, signal) => leases.create({ apiVersion: `${GROUP}/v1`, kind: 'Lease', ...lease }, signal),
    update: (lease, signal) => leases.replace(lease, signal),
  };
}
