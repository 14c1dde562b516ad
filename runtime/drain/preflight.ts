import { listAll, SMALL_PAGE_SIZE } from '../kube/collection.ts';
import type { ShadowObject } from '../api/resources.ts';
import type { Node, PodDisruptionBudget } from '../kube/objects.ts';
import { keyOf } from '../kube/reflector.ts';
import { BUDGETS_PATH } from '../kube/resources.ts';
import type { KubeTransport } from '../kube/transport.ts';
import { instantOf, rfc3339 } from '../lib/clock.ts';
import type { Logger } from '../lib/log.ts';
import { readMarks } from '../api/marks/marks.ts';
import { RETRY_ANNOTATION } from '../api/shadow/names.ts';
import type { DrainRefusal } from '../api/shadow/model.ts';
import { covers } from './cover.ts';
import type { Blocked, DrainSettings, Preflight } from './drain.ts';
import { type DrainPod, isFinished } from './pod.ts';

/**
 * Since when drains for the wanted version are refused, if one is refused now. A time that lies in this replica's future is none: clocks differ.
 */
export function refusedSince({ spec, status }: ShadowObject, now: number): DrainRefusal | undefined {
  const { version } = spec;
  if (version == null) return undefined;
  const known = status?.drain_refused;
  const isOwn = known?.version === version && Date.parse(known.since) <= now;
  return isOwn ? known : { since: rfc3339(now), version };
}

interface PreflightTerms extends Pick<DrainSettings, 'preflight' | 'refuseMs'> {
  readonly refused: DrainRefusal | undefined;
  readonly repeats: boolean;
  readonly now: number;
}

/**
 * What the preflight does on this node. A refusal leaves a node in service, so it is meant for nodes in service. A node may bear our marks
 * already, from the boot before or from its exclusion from load balancers. There a refusal would leave the marks for as long as it lasts,
 * whereas a drain ends at its deadline. It is not for ever either: some budgets are relaxed only once the node is cordoned, and some pods
 * move only once they are evicted. A drain that has failed has shown that it is not so here: another try waits until it can end otherwise.
 */
export function preflightOn(node: Node, { preflight, refuseMs, refused, repeats, now }: PreflightTerms): Preflight {
  if (readMarks(node)) return 'warn';
  if (repeats) return 'refuse';
  const isOver = refused && refuseMs > 0 && now - Date.parse(refused.since) >= refuseMs;
  return isOver ? 'warn' : preflight;
}

/** What a drain is judged by that follows a failed one. */
export interface Again {
  /** UIDs of pods that were left. What is used up only for the moment would leave them again. */
  readonly left: ReadonlySet<string>;
  /** When it would fail, milliseconds since the Unix epoch. */
  readonly deadline: number;
}

/** Undefined where the last drain of the node did not fail, and where somebody has asked for another try since. */
export function afterFailed(
  { node, shadow: { status } }: { readonly node: Node; readonly shadow: ShadowObject },
  deadline: number,
): Again | undefined {
  const { crash_count = 0, last_failure, state_transition_failure_timestamp: failedAt, drain_failed } = status ?? {};
  const isRetry = node.metadata.annotations?.[RETRY_ANNOTATION] === failedAt;
  if (crash_count === 0 || last_failure?.reason !== 'DrainFailed' || isRetry || !drain_failed) return undefined;
  return { left: new Set(drain_failed.left), deadline };
}

/**
 * The pods that may take longer to end than their drain may. A grace period is the longest that a pod takes, so this is a reason to warn
 * and not to refuse.
 * @param timeoutMs of a drain, from its beginning; 0 = for ever
 */
export function outlasting(pods: readonly DrainPod[], timeoutMs: number): readonly DrainPod[] {
  return timeoutMs === 0 ? [] : pods.filter(({ graceSeconds }) => graceSeconds * 1000 > timeoutMs);
}

interface Checked {
  /** By UID: the pods that no eviction can move as things are, and why. */
  readonly blocked: Blocked;
  /** Every budget; none where they could not be read. */
  readonly budgets: readonly PodDisruptionBudget[];
}

/**
 * Checks pods against the budgets that there are.
 * @throws what the transport throws, but only with `refuse` and after a failed drain. With `warn` the drain goes on without a warning where budgets cannot be read
 */
export async function precheck(
  { transport, logger }: { readonly transport: KubeTransport; readonly logger: Logger },
  pods: readonly DrainPod[],
  { preflight, again }: Pick<DrainSettings, 'preflight'> & { readonly again: Again | undefined },
): Promise<Checked> {
  if (pods.length === 0) return NONE;
  try {
    const budgets = await allBudgets(transport);
    return { blocked: unevictable(pods, budgets, again), budgets };
  } catch (error) {
    if (preflight === 'refuse' || again) throw error;
    logger.warn('disruption budgets not read before a drain', { error });
    return NONE;
  }
}

const NONE: Checked = { blocked: new Map(), budgets: [] };

export const allBudgets = (transport: KubeTransport): Promise<readonly PodDisruptionBudget[]> =>
  listAll(transport, { path: BUDGETS_PATH, project: budgetFields, pageSize: SMALL_PAGE_SIZE });

/** A budget without its `managedFields`, which would take most of the memory. */
function budgetFields({ metadata, spec, status }: PodDisruptionBudget): PodDisruptionBudget {
  const { name, namespace = '', uid, resourceVersion, generation = 0 } = metadata;
  return {
    metadata: { name, namespace, uid, resourceVersion, generation },
    ...(spec && { spec }),
    ...(status && { status }),
  };
}

/**
 * What would keep a drain of these pods from ever ending: by UID of the pod, why its eviction cannot be granted as things are. A budget
 * that is merely used up, because some of its pods are not healthy at the moment, is a reason only for one that was left before.
 */
export function unevictable(
  pods: readonly DrainPod[],
  budgets: readonly PodDisruptionBudget[],
  again?: Again,
): Blocked {
  const reasons = pods.flatMap((pod): [string, string][] => {
    const earlier = again?.left.has(pod.uid) ? again : undefined;
    const why = whyTooLate(pod, earlier) ?? whyNever(pod, budgets, earlier !== undefined);
    return why === undefined ? [] : [[pod.uid, why]];
  });
  return new Map(reasons);
}

/**
 * In the API server's order: a pod that provides nothing is evicted freely, two budgets for one pod are an error, and then its one budget
 * decides.
 */
function whyNever(pod: DrainPod, budgets: readonly PodDisruptionBudget[], wasLeft: boolean): string | undefined {
  if (pod.due !== undefined || isFinished(pod) || pod.phase === 'Pending') return undefined;
  const own = budgets.filter((budget) => covers(budget, pod));
  if (own.length > 1) return `${own.length} PodDisruptionBudgets at once: ${own.map(keyOf).join(', ')}`;
  const [budget] = own;
  if (!budget || hasSpare(budget, wasLeft) || unhealthyGoes(budget, pod)) return undefined;
  return `PodDisruptionBudget ${keyOf(budget)}`;
}

/** A pod may end before it is due, but the last drain has waited in vain. */
function whyTooLate({ due }: DrainPod, again: Again | undefined): string | undefined {
  return again && (instantOf(due) ?? -Infinity) > again.deadline ? `may take until ${due} to end` : undefined;
}

/**
 * Whether the budget allows a disruption now, or, for a pod that was not left before, will once all of its pods are healthy. A budget that its controller has not counted yet
 * may allow one.
 */
function hasSpare(budget: PodDisruptionBudget, wasLeft: boolean): boolean {
  const { disruptionsAllowed = 0, desiredHealthy, expectedPods } = budget.status ?? {};
  if (isUncounted(budget)) return true;
  if (wasLeft) return disruptionsAllowed > 0;
  return disruptionsAllowed > 0 || desiredHealthy === undefined || (expectedPods ?? 0) > desiredHealthy;
}

function unhealthyGoes({ spec, status }: PodDisruptionBudget, pod: DrainPod): boolean {
  if (pod.isReady) return false;
  const { currentHealthy = 0, desiredHealthy = 0 } = status ?? {};
  return spec?.unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** The API server stores zeros first. A budget that can never be counted, e.g. for pods that nothing owns, has a condition that says so. */
function isUncounted({ metadata, status }: PodDisruptionBudget): boolean {
  const { observedGeneration = 0, conditions } = status ?? {};
  const fails = conditions?.some(({ type, reason }) => type === 'DisruptionAllowed' && reason === 'SyncFailed');
  return observedGeneration < (metadata.generation ?? 0) && fails !== true;
}
