import { isServed } from '../kube/discovery.ts';
import { Informer } from '../kube/informer.ts';
import type { UpdatePolicyObject } from '../kube/objects.ts';
import { POLICIES_PATH } from '../kube/resources.ts';
import type { KubeTransport } from '../kube/transport.ts';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import type { Random } from '../lib/random.ts';
import { POLICY_VERSION } from '../policy/names.ts';
import type { ShadowCondition } from '../shadow/model.ts';
import { GROUP } from '../shadow/names.ts';
import type { ControllerConfig } from './config.ts';
import type { Snapshot } from './plan/snapshot.ts';
import type { Orders } from './orders.ts';
import { PolicyViews } from './policy-views.ts';
import { saysUnread, unread } from './unread.ts';

interface PoliciesOptions {
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly config: ControllerConfig;
  /** Other policies than those of resources. @default none */
  readonly orders?: Pick<Orders, 'policies' | 'onChange'> | undefined;
}

/** Where the cluster does not serve the kind, it is asked again after this time. */
const ABSENT_RETRY_MS = 60_000;

/** The policies of the cluster, and that of the variables. While they cannot be read, it says why. */
export class Policies {
  readonly #informer: Informer<UpdatePolicyObject, UpdatePolicyObject>;
  readonly #clock: Clock;
  readonly #views: PolicyViews;
  readonly #orders: Pick<Orders, 'policies'> | undefined;
  readonly #listeners = new Set<() => void>();
  /** Why they could not be read when listeners were last called. */
  #told: string | undefined;

  constructor({ config, orders, ...access }: PoliciesOptions) {
    const { transport, clock } = access;
    this.#orders = orders;
    orders?.onChange(() => this.#tell());
    this.#clock = clock;
    this.#views = new PolicyViews(config);
    this.#informer = new Informer({
      ...access,
      path: POLICIES_PATH,
      project: policyOnly,
      optional: {
        isServed: (signal) => isServed(transport, { group: GROUP, version: POLICY_VERSION }, signal),
        retryMs: ABSENT_RETRY_MS,
      },
      onOutage: () => {
        if (this.#unread !== this.#told) this.#tell();
      },
    });
    this.#informer.onChange(() => this.#tell());
  }

  /** Calls `listener` after each change, also of whether the policies can be read. Returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Keeps them true until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#informer.run(signal);
  }

  /** @param now milliseconds since the Unix epoch */
  view(now: number): Pick<Snapshot, 'policies' | 'policiesUnread'> {
    const objects = this.#informer.items().values();
    return { policies: this.#views.at(objects, now, this.#orders?.policies()), policiesUnread: this.#unread };
  }

  get #unread(): string | undefined {
    return unread('policies', this.#informer, this.#clock);
  }

  #tell(): void {
    this.#told = this.#unread;
    for (const listener of this.#listeners) listener();
  }
}

/** Whether a verdict says that its controller cannot read the policies. */
export function isUnread({ reason, message }: Pick<ShadowCondition, 'reason' | 'message'>): boolean {
  return reason === 'PolicyInvalid' && saysUnread('policies', message);
}

/** Only what is read: a change of anything else, e.g. of `managedFields`, is no reason to plan. */
function policyOnly({ metadata, spec, status }: UpdatePolicyObject): UpdatePolicyObject {
  const { name, uid, resourceVersion, generation } = metadata;
  return {
    metadata: { name, uid, resourceVersion, ...(generation !== undefined && { generation }) },
    spec,
    ...(status && { status }),
  };
}
