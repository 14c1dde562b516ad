import { nodeInfos } from '../../controller/plan/nodes/join.ts';
import { startable } from '../../controller/plan/facts/machine.ts';
import { isUnderWay } from '../../controller/plan/facts/phase.ts';
import type { NodeInfo, ShadowView } from '../../controller/plan/facts/snapshot.ts';
import { isReason } from '../../controller/plan/facts/reasons.ts';
import type { Verdict } from '../../controller/plan/facts/verdict.ts';
import { NODES_PATH } from '../../kube/resources.ts';
import { RETRY_ANNOTATION, UPDATE_NOW_ANNOTATION } from '../../api/shadow/names.ts';
import { type Answer, type Command, RefusedCommandError, type CommandRequest } from '../command.ts';
import { inspect, type Inspection } from '../inspect.ts';
import { connectToOperator, type OperatedCluster } from '../operator.ts';
import {
  CHANGE_OPTIONS,
  annotationPatch,
  BY_OPTION,
  patchObject,
  type Change,
  changeEach,
  isDryRun,
  requesterOf,
  SELECTOR_OPTION,
} from '../change.ts';

export const now: Command = {
  name: 'now',
  args: 'NODE...',
  summary: 'update nodes next, also outside of their windows',
  details: `The nodes come first under their policies, and windows do not hold them back. Budgets, zones, proof, other policies, pauses, freezes, holds
and halted releases still do. The controller removes the request when the update begins. The Event UpdateStarted says who asked.`,
  options: { ...SELECTOR_OPTION, ...BY_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: Infinity,
  run: (request) => changeNodes(request, requestUpdate),
};

export const retry: Command = {
  name: 'retry',
  args: 'NODE...',
  summary: 'end the pause of nodes after a failure',
  details: `This applies to one failure. If the next attempt fails too, the node pauses again, and longer.`,
  options: { ...SELECTOR_OPTION, ...CHANGE_OPTIONS },
  minArgs: 1,
  maxArgs: Infinity,
  run: (request) => changeNodes(request, requestRetry),
};

interface Session {
  readonly request: CommandRequest;
  readonly cluster: OperatedCluster;
  readonly seen: Inspection;
}

/** All nodes by one look at the cluster. */
async function changeNodes(
  request: CommandRequest,
  changeOne: (session: Session, name: string) => Promise<Change>,
): Promise<Answer> {
  const cluster = await connectToOperator(request);
  const session = { request, cluster, seen: await inspect(cluster, request.clock.now()) };
  return changeEach(request, 'node', (name) => changeOne(session, name));
}

interface ManagedNode {
  readonly verdict: Verdict;
  readonly info: NodeInfo;
  readonly shadow: ShadowView;
}

/** @throws RefusedCommandError for a node that does not exist, is not managed, or has no report of its agent */
function managedNode({ snapshot, plan }: Inspection, name: string): ManagedNode {
  const info = nodeInfos(snapshot).find(({ node }) => node.name === name);
  if (!info) throw new RefusedCommandError('the cluster has no such node');
  const verdict = plan.verdicts.find(({ node }) => node === name);
  if (!verdict) throw new RefusedCommandError('the node is not managed');
  const { shadow } = info;
  if (!shadow?.status) throw new RefusedCommandError(verdict.message);
  return { verdict, info, shadow };
}

async function requestUpdate({ request, cluster, seen }: Session, name: string): Promise<Change> {
  const { verdict, shadow } = managedNode(seen, name);
  const object = `node ${name}`;
  if (isUnderWay(shadow)) return { object, changed: false, says: 'is being updated already', undo: undefined };
  const version = startable(shadow);
  if (version === undefined) throw new RefusedCommandError(`there is no update to begin: ${verdict.message}`);
  const changed = await annotateNode({ request, cluster, name }, UPDATE_NOW_ANNOTATION, requesterOf(request));
  const kept = stillWaitsFor(verdict);
  const says = `comes next to be updated to ${version}${kept === undefined ? '' : `; until then: ${kept}`}`;
  return { object, changed, says, undo: undoOf(name, UPDATE_NOW_ANNOTATION) };
}

/** What the node still waits for, because the request does not lift it; undefined where the update can start. */
function stillWaitsFor({ reason, message }: Verdict): string | undefined {
  if (isReason(reason, 'lifted')) return undefined;
  return reason === 'BackingOff' ? `${message} (retry ends that)` : message;
}

async function requestRetry({ request, cluster, seen }: Session, name: string): Promise<Change> {
  const { verdict, shadow } = managedNode(seen, name);
  const failedAt = shadow.status?.state_transition_failure_timestamp;
  if (verdict.reason !== 'BackingOff' || failedAt == null)
    throw new RefusedCommandError(`the node does not pause after a failure: ${verdict.reason}: ${verdict.message}`);
  const changed = await annotateNode({ request, cluster, name }, RETRY_ANNOTATION, failedAt);
  const says = `pauses no longer after its failure of ${failedAt}`;
  return { object: `node ${name}`, changed, says, undo: undoOf(name, RETRY_ANNOTATION) };
}

interface OnNode extends Pick<Session, 'request' | 'cluster'> {
  readonly name: string;
}

function annotateNode({ request, cluster, name }: OnNode, key: string, value: string): Promise<boolean> {
  const target = { path: NODES_PATH, name, called: `node ${name}`, dryRun: isDryRun(request) };
  return patchObject(cluster, target, annotationPatch(key, value));
}

const undoOf = (name: string, key: string): string => `kubectl annotate node ${name} ${key}-`;
