import { rfc3339 } from '../../lib/clock.ts';
import { type Due, type NodeWriter, nodeWriter, type NodeWriterPorts } from './node-writer.ts';
import { mapNodes } from '../plan/nodes/join.ts';
import type { LifecycleCondition, NodeInfo } from '../plan/facts/snapshot.ts';

/**
 * Kubernetes' lifecycle conditions of Nodes (KEP-5683, alpha), by what permits, shadows and marks say.
 * @see https://kubernetes.io/docs/reference/node/node-lifecycle-conditions/
 */
const LIFECYCLE_TYPES = ['MaintenancePlanned', 'DrainInProgress', 'Drained', 'MaintenanceInProgress'] as const;
type LifecycleType = (typeof LIFECYCLE_TYPES)[number];

/** The reason of all our conditions. Several programs may write these types, so only the reason tells which conditions are ours. */
export const LIFECYCLE_REASON = 'BottlerocketUpdate';

interface Observed {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly message: string;
}

export type Lifecycle = Readonly<Record<LifecycleType, Observed>>;

export function isLifecycle({ type }: { readonly type: string }): boolean {
  return LIFECYCLE_TYPES.some((known) => known === type);
}

/** What the Node should say; undefined where there should be nothing of ours. An update is shown to its end, also on a node that is managed no more. */
export function lifecycleOf(info: NodeInfo): Lifecycle | undefined {
  const { node, shadow, permit } = info;
  if (!node.managed && permit === undefined) return undefined;
  const isDown = permit !== undefined && shadow?.rebootAskedAt !== undefined;
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
  // The marks cannot be parsed.
  if (marks?.id === '') return { DrainInProgress: UNREADABLE, Drained: UNREADABLE };
  const isDrained = marks?.drained !== undefined;
  return {
    DrainInProgress: observed(isOnItsWay(info) && marks?.since != null && !isDrained),
    Drained: observed(info.permit !== undefined && isDrained),
  };
}

const UNREADABLE: Observed = { status: 'Unknown', message: 'the marks on the node cannot be read' };

/** An update runs on the node that has not rebooted the host yet, and has neither failed nor been called off. */
const isOnItsWay = ({ permit, phase: { kind } }: NodeInfo): boolean =>
  permit !== undefined && ['staging', 'staged', 'asked', 'finishing', 'draining', 'rebooting'].includes(kind);

/**
 * The elements of a strategic merge patch of `status.conditions` that make a Node say what it should; none where it does already. A condition of
 * somebody else stays, unless it denies what is true.
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
  /** Whether our conditions should be on Nodes. With `none` nothing is written, because the controller lacks the right. */
  readonly mode: 'none' | 'written' | 'removed';
}

/** Shows in Kubernetes' own lifecycle conditions where updates are. */
export function lifecycleConditionWriter(options: LifecycleConditionWriterOptions): NodeWriter {
  const { mode, nodes, clock } = options;
  const wantedOn = (info: NodeInfo) => (mode === 'written' ? lifecycleOf(info) : undefined);
  return nodeWriter<Lifecycle | undefined>({
    ...options,
    what: 'lifecycle conditions',
    dueIn: ({ snapshot }) => {
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
