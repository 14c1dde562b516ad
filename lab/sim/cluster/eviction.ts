import { rfc3339 } from '../../../runtime/lib/clock.ts';
import { builtIn, type Core, mustGet, PODS } from './core.ts';
import { at, fields, isFields, type KubeJson, list, text } from './object.ts';
import { type DeleteOptions, remove } from './remove.ts';
import { labelSelector } from './selector.ts';
import { badRequest, StatusError, success } from './status.ts';
import type { Ref } from './store.ts';

const BUDGETS = builtIn('poddisruptionbudgets');

/** As the API server waits with pods that were evicted but are not gone: more than these and it refuses. */
const MOST_DISRUPTED = 2000;

/**
 * The eviction subresource: deletes a pod if its PodDisruptionBudget allows.
 * @throws StatusError 404, 409 (UID precondition), 429 (the budget), 500 (two budgets)
 */
export function evict(core: Core, ref: Ref, { body, options }: { body: unknown; options: DeleteOptions }): object {
  if (!isFields(body)) throw badRequest('the body of the request must be an Eviction');
  const named = at(body, 'metadata', 'name');
  if (named !== undefined && named !== ref.name) {
    throw badRequest('name in URL does not match name in Eviction object');
  }
  const pod = mustGet(core, { ...ref, type: PODS });
  // Before the preconditions are looked at: an eviction of another pod that had this name is charged all the same.
  if (!evictsFreely(pod)) charge(core, pod, options);
  remove(core, { type: PODS, object: pod }, options);
  return success(undefined, 201);
}

/** Pods that provide nothing: not started, finished, or on their way out. */
function evictsFreely(pod: KubeJson): boolean {
  const phase = text(at(pod, 'status', 'phase'));
  return ['Pending', 'Succeeded', 'Failed'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function charge(core: Core, pod: KubeJson, { dryRun }: DeleteOptions): void {
  const labels = pod.metadata.labels ?? {};
  const budgets = core.store.collection(BUDGETS).list(pod.metadata.namespace);
  const [budget, other] = budgets.filter((candidate) => labelSelector(at(candidate, 'spec', 'selector'))(labels));
  if (other) {
    const message = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.';
    throw new StatusError({ code: 500, reason: 'InternalError', message });
  }
  if (!budget || unhealthyGoes(budget, pod)) return;
  const status = fields(budget['status']);
  refuseIfSpent(budget);
  if (dryRun) return;
  const disruptedPods = { ...fields(status['disruptedPods']), [pod.metadata.name]: rfc3339(core.clock.now()) };
  const disruptionsAllowed = Number(status['disruptionsAllowed']) - 1;
  core.store.put(BUDGETS, { ...budget, status: { ...status, disruptionsAllowed, disruptedPods } }, core.cause);
}

/** A pod that is not ready may go without being counted: always, or while enough others are healthy. */
function unhealthyGoes(budget: KubeJson, pod: KubeJson): boolean {
  const ready = list(at(pod, 'status', 'conditions'))
    .map(fields)
    .some(({ type, status }) => type === 'Ready' && status === 'True');
  if (ready) return false;
  if (at(budget, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy } = fields(budget['status']);
  return Number(desiredHealthy) > 0 && Number(currentHealthy) >= Number(desiredHealthy);
}

function refuseIfSpent(budget: KubeJson): void {
  const { name, generation = 0 } = budget.metadata;
  const status = fields(budget['status']);
  if (Number(status['observedGeneration'] ?? 0) < generation) {
    throw refused(`The disruption budget ${name} is still being processed by the server.`, 10);
  }
  const disrupted = Object.keys(fields(status['disruptedPods'])).length;
  if (Number(status['disruptionsAllowed'] ?? 0) > 0 && disrupted <= MOST_DISRUPTED) return;
  const healthy = Number(status['currentHealthy'] ?? 0);
  const needed = Number(status['desiredHealthy'] ?? 0);
  throw refused(`The disruption budget ${name} needs ${needed} healthy pods and has ${healthy} currently`, 0);
}

function refused(why: string, retryAfterSeconds: number): StatusError {
  return new StatusError({
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      ...(retryAfterSeconds > 0 && { retryAfterSeconds }),
      causes: [{ reason: 'DisruptionBudget', message: why }],
    },
  });
}
