import { ApiStatusError, BusyError, ConflictError, type KubeStatus, NotFoundError } from './errors.ts';
import { objectPath } from './paths.ts';
import { deleteOptions } from './collection.ts';
import { podsOf, podsPath } from './resources.ts';
import type { KubeTransport } from './transport.ts';

/** One pod, not just its name: a namesake may have replaced it. */
export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

export type EvictionResult =
  /** The pod is being deleted. It is gone once there is no pod of its name, or one with another UID. */
  | { readonly kind: 'accepted' }
  /** There is no such pod any more. */
  | { readonly kind: 'gone' }
  /**
   * 429. `by` names what asks to wait: PodDisruptionBudgets, an admission webhook, or the API server. `isBusy`: that has not looked at the pod at
   * all, and may let it go in a moment.
   */
  | { readonly kind: 'blocked'; readonly by: readonly string[]; readonly isBusy?: true; readonly retryAfterMs?: number }
  /** Any other answer; `message` is the API server's. */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string };

export interface EvictionPort {
  /** Asks for one eviction. @throws UnreachableError when no answer came: it may have been accepted */
  evict(pod: PodIdentity): Promise<EvictionResult>;
}

export function evictionPort(transport: KubeTransport): EvictionPort {
  return {
    async evict(pod) {
      try {
        await transport.request({
          method: 'POST',
          path: objectPath(podsPath(pod.namespace), pod.name, 'eviction'),
          body: eviction(pod),
          slow: true,
        });
        return { kind: 'accepted' };
      } catch (error) {
        if (!(error instanceof ApiStatusError)) throw error;
        // A 409 can mean another UID or a conflict inside the API server, and a 404 can come from a webhook. Only the pod itself tells which.
        const unclear = error instanceof ConflictError || error instanceof NotFoundError;
        if (unclear && (await podsOf(transport, pod.namespace).get(pod.name))?.metadata.uid !== pod.uid)
          return { kind: 'gone' };
        return evictionResult(error, pod.namespace);
      }
    },
  };
}

/** The eviction carries the UID, because a pod of the same name may have replaced the one to be drained. */
function eviction({ namespace, name, uid }: PodIdentity): object {
  return {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { namespace, name },
    deleteOptions: deleteOptions({ uid }),
  };
}

/** A webhook can ask to wait for a day, and mean an hour of work that it does now. */
const LONGEST_RETRY_AFTER_MS = 60_000;

function evictionResult(error: ApiStatusError, namespace: string): EvictionResult {
  const { status } = error;
  const { code, reason, message, details } = status;
  if (code !== 429) return { kind: 'refused', status: code, message: message ?? reason ?? 'no message' };
  const ms = Math.min((details?.retryAfterSeconds ?? 0) * 1000, LONGEST_RETRY_AFTER_MS);
  const isBusy = error instanceof BusyError && ({ isBusy: true } as const);
  return { kind: 'blocked', by: whoBlocks(status, namespace), ...isBusy, ...(ms > 0 && { retryAfterMs: ms }) };
}

/** The API server names the budget, or the webhook, only in its texts. */
function whoBlocks({ message = '', details }: KubeStatus, namespace: string): readonly string[] {
  const budgets = (details?.causes ?? [])
    .filter((cause) => cause.reason === 'DisruptionBudget')
    .flatMap((cause) => /The disruption budget (\S+) /.exec(cause.message ?? '')?.[1] ?? []);
  if (budgets.length > 0) return budgets.map((name) => `PodDisruptionBudget ${namespace}/${name}`);
  const webhook = /admission webhook "([^"]+)"/.exec(message)?.[1];
  return [`${webhook === undefined ? 'the Kubernetes API' : `the admission webhook ${webhook}`}, which asks to wait`];
}
