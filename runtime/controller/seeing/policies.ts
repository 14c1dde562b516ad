import { listAll } from '../../kube/collection.ts';
import { isServed } from '../../kube/discovery.ts';
import { ApiStatusError } from '../../kube/errors.ts';
import type { Informer } from '../../kube/informer.ts';
import { type UpdatePolicyObject, POLICIES_PATH } from '../../api/resources.ts';
import type { KubeTransport } from '../../kube/transport.ts';
import { POLICY_PLURAL, POLICY_VERSION } from '../../api/policy/names.ts';
import { GROUP } from '../../api/shadow/names.ts';
import type { ControllerConfig } from '../config.ts';
import type { CacheOptions } from './freshness.ts';
import type { Snapshot } from '../plan/facts/snapshot.ts';
import type { Orders } from './orders.ts';
import { PolicyViews } from './policy-views.ts';

interface PoliciesOptions extends CacheOptions {
  readonly config: ControllerConfig;
  /** Other policies than those of resources. @default none */
  readonly orders?: Pick<Orders, 'policies' | 'onChange'> | undefined;
}

/** Where the cluster does not serve the kind, it is asked again after this time. */
const ABSENT_RETRY_MS = 60_000;

/** The policies of the cluster, and that of the variables. */
export class Policies {
  readonly #informer: Informer<UpdatePolicyObject, UpdatePolicyObject>;
  readonly #views: PolicyViews;
  readonly #orders: PoliciesOptions['orders'];
  readonly #transport: KubeTransport;

  constructor({ config, orders, freshness, ...access }: PoliciesOptions) {
    const { transport } = access;
    this.#transport = transport;
    this.#orders = orders;
    this.#views = new PolicyViews(config);
    this.#informer = freshness.informer('policies', {
      ...access,
      path: POLICIES_PATH,
      project: policyOnly,
      optional: {
        isServed: (signal) => this.#isServed(signal),
        retryMs: ABSENT_RETRY_MS,
      },
    });
  }

  /** Calls `listener` after each change. Returns what ends that. */
  onChange(listener: () => void): () => void {
    const ends = [this.#informer.onChange(listener), this.#orders?.onChange(listener)];
    return () => ends.forEach((end) => end?.());
  }

  /** Keeps them true until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }

  /** @param now milliseconds since the Unix epoch */
  view(now: number): Snapshot['policies'] {
    return this.#views.at(this.#informer.items().values(), now, this.#orders?.policies());
  }

  /** Those that the API server has now, and none of the cache. @throws as `KubeTransport.request` */
  async readLive(signal: AbortSignal): Promise<(now: number) => Snapshot['policies']> {
    const objects = await this.#listLive(signal);
    return (now) => this.#views.at(objects, now, this.#orders?.policies());
  }

  async #listLive(signal: AbortSignal): Promise<readonly UpdatePolicyObject[]> {
    try {
      return await listAll(this.#transport, { path: POLICIES_PATH, project: policyOnly, signal });
    } catch (error) {
      const isAbsent = error instanceof ApiStatusError && error.status.code === 404;
      if (isAbsent && !(await this.#isServed(signal))) return [];
      throw error;
    }
  }

  #isServed(signal?: AbortSignal): Promise<boolean> {
    return isServed(this.#transport, { group: GROUP, version: POLICY_VERSION, plural: POLICY_PLURAL }, signal);
  }
}

/** Only what is read: a change of anything else, e.g. of `managedFields`, is no reason to plan. */
function policyOnly({ metadata, spec, status }: UpdatePolicyObject): UpdatePolicyObject {
  const { name, uid, resourceVersion, generation, creationTimestamp } = metadata;
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(generation !== undefined && { generation }),
      ...(creationTimestamp != null && { creationTimestamp }),
    },
    spec,
    ...(status && { status }),
  };
}
