import { UNREADABLE } from '../../api/marks/marks.ts';
import { conditionUpToDate } from '../plan/facts/conditions.ts';
import type { NodeView } from '../plan/facts/snapshot.ts';
import { isSetback, type Verdict } from '../plan/facts/verdict.ts';
import { agentMissing, lastFailure, marksUnreadable, setback } from './events.ts';
import type { About, Planned, Statement, Statements } from './statements.ts';

/** Nodes that did not come back well from their update. */
export function setbacks({ plan: { verdicts }, snapshot, namespace }: Planned): readonly Statement[] {
  const set = verdicts.filter(isSetback);
  if (set.length === 0) return [];
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const shadows = new Map(snapshot.shadows.map((shadow) => [shadow.name, shadow]));
  return set.flatMap((verdict) => {
    const node = nodes.get(verdict.node);
    const shadow = node && shadows.get(node.shadowName);
    if (!shadow) return [];
    // The condition says it already, so this process or one before it has recorded the Event.
    const isKnown = conditionUpToDate(shadow.status)?.reason === verdict.reason;
    const event = setback({ verdict, node, shadow }, namespace);
    const about = aboutNode(
      verdict,
      shadow.spec.version ?? shadow.status?.finished?.version ?? shadow.status?.last_failure?.version,
    );
    return {
      kind: 'setback',
      of: node.uid,
      value: verdict.reason,
      event,
      isRecorded: !isKnown,
      isRepeated: false,
      about,
    };
  });
}

/** Missing agents. Each Node has one such statement, however often its agent comes and goes. */
export function missingAgents(
  { plan: { verdicts }, snapshot, missedSince }: Planned,
  before: Statements,
): readonly Statement[] {
  const missing = new Map(verdicts.filter(({ reason }) => reason === 'AgentMissing').map((one) => [one.node, one]));
  const said = new Map([...before.values()].filter(({ kind }) => kind === 'agent').map((one) => [one.of, one]));
  if (missing.size + said.size === 0) return [];
  const isMissed = (name: string): boolean =>
    missing.has(name) && (snapshot.silentSince.get(name) ?? Infinity) <= missedSince;
  return snapshot.nodes.flatMap((node) => {
    const verdict = missing.get(node.name);
    if (said.has(node.uid) || !verdict || !isMissed(node.name)) return said.get(node.uid) ?? [];
    const told = { event: agentMissing(node), isRecorded: true, isRepeated: true, about: aboutNode(verdict) };
    return { kind: 'agent', of: node.uid, value: 'missing', ...told };
  });
}

/** Nodes whose last attempt failed. Their Events are recorded as the attempts are taken back. */
export function failures({ plan: { verdicts }, snapshot, namespace }: Planned): readonly Statement[] {
  const failed = snapshot.shadows.filter(({ status }) => status !== undefined && status.crash_count > 0);
  if (failed.length === 0) return [];
  const nodes = new Map(snapshot.nodes.map((node) => [node.shadowName, node]));
  const judged = new Map(verdicts.map((verdict) => [verdict.node, verdict]));
  return failed.flatMap((shadow) => {
    const node = nodes.get(shadow.name);
    const verdict = node && judged.get(node.name);
    const event = lastFailure(shadow, namespace);
    if (!verdict || !event || !shadow.owners.includes(node.uid)) return [];
    const value = shadow.status?.state_transition_failure_timestamp ?? String(shadow.status?.crash_count);
    const about = aboutNode(verdict, shadow.spec.version);
    return { kind: 'failure', of: node.uid, value, event, isRecorded: false, isRepeated: false, about };
  });
}

function aboutNode({ node, policy }: Verdict, version?: string | null): About {
  return { node, ...(policy !== undefined && { policy }), ...(version != null && { version }) };
}

/** Machines that have just joined, and take no pods before they are updated. Of each it is told once. */
export function arrivals({ plan: { verdicts }, snapshot }: Planned): readonly Statement[] {
  const arriving = verdicts.filter(({ isArriving }) => isArriving);
  if (arriving.length === 0) return [];
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  return arriving.flatMap(({ node: name, policy }) => {
    const node = nodes.get(name);
    return node ? arrives(node, policy) : [];
  });
}

function arrives({ name, uid }: NodeView, policy: string | undefined): Statement {
  const event = {
    regarding: { apiVersion: 'v1', kind: 'Node', name, uid },
    type: 'Normal' as const,
    reason: 'Arriving',
    message: 'no pod comes before it is updated, or nothing is to come, for ten minutes at most',
    occasion: `arriving.${uid}`,
  };
  const about = { node: name, ...(policy !== undefined && { policy }) };
  return { kind: 'agent', of: `${uid} arriving`, value: 'arriving', event, isRecorded: true, isRepeated: true, about };
}

/** Nodes whose marks somebody has overwritten. */
export function unreadableMarks({ snapshot }: Planned): readonly Statement[] {
  const told = snapshot.nodes.filter(({ marks, unreleased }) =>
    (marks?.unknown ?? unreleased?.split(', '))?.includes(UNREADABLE),
  );
  return told.map((node) => {
    const event = marksUnreadable(node);
    return { kind: 'warning', of: `marks ${node.uid}`, value: 'given', event, isRecorded: true, isRepeated: true };
  });
}
