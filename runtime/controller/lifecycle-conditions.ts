import type { nodesOf } from '../kube/resources.ts';
import { rfc3339 } from '../lib/clock.ts';
import { type Due, NodeWriter, type NodeWriterPorts } from './node-writer.ts';
import { mapNodes } from './plan/join.ts';
import type { LifecycleCondition, NodeInfo } from './plan/snapshot.ts';

/**
 * Kubernetes' lifecycle conditions of Nodes (KEP-5683, alpha), told by what slots, shadows and marks say.
 * @see https://kubernetes.io/docs/reference/node/node-lifecycle-conditions/
 */
const LIFECYCLE_TYPES = ['MaintenancePlanned', 'DrainInProgress', 'Drained', 'MaintenanceInProgress'] as const;
type LifecycleType = (typeof LIFECYCLE_TYPES)[number];

/** Nobody owns the types: several may write one, so the reason says which conditions are ours. It is one for all of them. */
export const LIFECYCLE_REASON = 'BottlerocketUpdate';

interface Observed {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly message: string;
}

export type Lifecycle = Readonly<Record<LifecycleType, Observed>>;

export function isLifecycle({ type }: { readonly type: string }): boolean {
  return LIFECYCLE_TYPES.some((known) => known === type);
}

/** What the Node is to say; undefined where nothing of ours is to be there. What is updated is told to its end, managed or not. */
export function lifecycleOf(info: NodeInfo): Lifecycle | undefined {
  const { node, shadow, slot } = info;
  if (!node.managed && slot === undefined) return undefined;
  const isDown = slot !== undefined && shadow?.rebootAskedAt !== undefined;
  const isAhead = isOnItsWay(info) && !isDown;
  const version = shadow?.spec.version ?? 'another version';
  const observed = (isSo: boolean): Observed =>
    isSo ? { status: 'True', message: `update to ${version}` } : { status: 'False', message: 'not at this step' };
  return {
    MaintenancePlanned: observed(isAhead),
    ...drainOf(info, observed),
    MaintenanceInProgress: observed(isDown),
  };
}

function drainOf(
  info: NodeInfo,
  observed: (isSo: boolean) => Observed,
): Pick<Lifecycle, 'DrainInProgress' | 'Drained'> {
  const { marks } = info.node;
  // Somebody has edited the marks.
  if (marks?.id === '') return { DrainInProgress: UNREADABLE, Drained: UNREADABLE };
  const isDrained = marks?.drained !== undefined;
  return {
    DrainInProgress: observed(isOnItsWay(info) && marks?.since != null && !isDrained),
    Drained: observed(info.slot !== undefined && isDrained),
  };
}

const UNREADABLE: Observed = { status: 'Unknown', message: 'the marks on the node cannot be read' };

/** An update has begun there that has neither rebooted the host nor failed, and was not called off. */
function isOnItsWay({ shadow, slot }: NodeInfo): boolean {
  if (slot === undefined || !shadow?.status) return false;
  const { current_state: state } = shadow.status;
  const isWanted = shadow.spec.state === 'StagedAndPerformedUpdate' || shadow.spec.state === 'RebootedIntoUpdate';
  return isWanted && (state === 'Idle' || state === 'StagedAndPerformedUpdate');
}

/**
 * The elements of a strategic merge patch of `status.conditions` after which a Node says what it is to say; none where it does. What others
 * have written stays, unless it denies what is so.
 * @param now RFC 3339
 */
export function lifecycleChanges(
  said: readonly LifecycleCondition[],
  wanted: Lifecycle | undefined,
  now: string,
): readonly object[] {
  return LIFECYCLE_TYPES.flatMap((type): readonly object[] => {
    const current = said.find((condition) => condition.type === type);
    if (!wanted) return isOurs(current) ? [{ $patch: 'delete', type }] : [];
    return says(current, wanted[type]) ? [] : [{ type, ...conditionOf(wanted[type], current, now) }];
  });
}

const isOurs = (condition: LifecycleCondition | undefined): boolean => condition?.reason === LIFECYCLE_REASON;

function says(current: LifecycleCondition | undefined, { status, message }: Observed): boolean {
  if (current === undefined) return false;
  if (!isOurs(current)) return status !== 'True' || current.status === 'True';
  return current.status === status && current.message === message;
}

function conditionOf({ status, message }: Observed, current: LifecycleCondition | undefined, now: string) {
  const since = current?.status === status ? current.lastTransitionTime : undefined;
  return { status, reason: LIFECYCLE_REASON, message, lastTransitionTime: since ?? now, lastHeartbeatTime: now };
}

interface LifecycleConditionWriterOptions extends NodeWriterPorts {
  /** Whether our conditions are to be on Nodes. Nothing is done about them where that is `none`: there is no right to. */
  readonly mode: 'none' | 'written' | 'removed';
  readonly nodes: Pick<ReturnType<typeof nodesOf>, 'get' | 'mergeStatus'>;
}

/** Says in Kubernetes' own lifecycle conditions where updates are. */
export function lifecycleConditionWriter(options: LifecycleConditionWriterOptions): NodeWriter<Lifecycle | undefined> {
  const { mode, nodes, clock } = options;
  const wantedOn = (info: NodeInfo) => (mode === 'written' ? lifecycleOf(info) : undefined);
  return new NodeWriter({
    ...options,
    what: 'lifecycle conditions',
    dueIn: (snapshot) => {
      const at = rfc3339(clock.now());
      return mode === 'none' ? [] : mapNodes(snapshot, (info) => dueOn(info, wantedOn(info), at)).flat();
    },
    write: async ({ metadata, status }, wanted, signal) => {
      const conditions = lifecycleChanges(status?.conditions?.filter(isLifecycle) ?? [], wanted, rfc3339(clock.now()));
      const patch = { metadata: { resourceVersion: metadata.resourceVersion }, status: { conditions } };
      if (conditions.length > 0) await nodes.mergeStatus(metadata.name, patch, signal);
    },
  });
}

function dueOn({ node }: NodeInfo, wanted: Lifecycle | undefined, at: string): readonly Due<Lifecycle | undefined>[] {
  const changes = lifecycleChanges(node.lifecycle ?? [], wanted, at);
  return changes.length > 0 ? [{ node: node.name, wanted }] : [];
}
