import { hasFailedOn } from './blame.ts';
import type { Group } from './groups.ts';
import type { AssessedNode } from './health.ts';
import { isCalledOff, isRefused } from './phase.ts';
import { lostAt } from './proof.ts';
import type { OsRelease } from './releases.ts';
import { type GateResult, NEVER, nextAfter, PASS } from './requeue.ts';
import type { NodeView, ShadowView } from './snapshot.ts';
import { byPolicy, gate, type GateContext, haltedOn, keptBack, NOT_READY, notCurrent, PAUSED } from './start-gate.ts';
import type { Starts } from './starts.ts';
import { drainBlockedFinding, type Finding, found, type Stop } from './verdict.ts';

/** By UID of the node. */
export type Stops = ReadonlyMap<string, Stop>;

/** Which updates do not go on, and by policy, when time alone stops another one or lets one go on. */
export function stopsOf(
  unsettled: readonly AssessedNode[],
  { waiting, isCapped }: Starts,
  context: GateContext,
): { readonly stops: Stops; readonly stopsAt: ReadonlyMap<Group | undefined, number> } {
  const stops = new Map<string, Stop>();
  const stopsAt = new Map<Group | undefined, number>();
  const note = (group: Group | undefined, instant: number): void => {
    if (instant !== NEVER) stopsAt.set(group, nextAfter(context.now, [instant, stopsAt.get(group) ?? NEVER]));
  };
  // A node that is not Ready comes last. Where the others take all places in the proof of its release, this plan calls it off, and not the next.
  const managed = unsettled.filter(({ node }) => node.managed);
  for (const info of managed.toSorted((a, b) => Number(b.node.ready) - Number(a.node.ready))) {
    const { node, shadow } = info;
    const group = context.groups.of(info);
    const { stop, changesAt, disturbedFor } = secondGate(info, context);
    disturbedFor?.proof.disturb(lostAt(info, context.settings));
    note(group, changesAt);
    if (stop) stops.set(node.uid, stop);
    const isWaitedFor = isCapped || (group !== undefined && waiting.has(group));
    if (stop || !isWaitedFor) continue;
    const endsAt = callOffAt(info, context.snapshot);
    if (endsAt <= context.now) stops.set(node.uid, { kind: 'call-off', because: drainBlockedFinding(shadow?.status) });
    else note(group, endsAt);
  }
  return { stops, stopsAt };
}

/** What the second gate says, and when time alone changes it. */
interface SecondGateResult {
  readonly stop: Stop | undefined;
  readonly changesAt: number;
  /** The release that has one more node in its proof from now on, which the answers for the next nodes depend on. */
  readonly disturbedFor?: OsRelease;
}

/**
 * The second gate: may the node be disturbed for the version that it has staged (rule L8)?
 * - What forbids a start by now calls the update off, or the node would hold its slot for as long.
 * - What is not known to be current, a pause of the namespace, policies that cannot be read, and a node that is not Ready are waited for.
 * - Nothing else stops an update that has begun: neither a closed window, nor a zone, nor another policy.
 */
function secondGate(info: AssessedNode, context: GateContext): SecondGateResult {
  const { node, shadow, ruling, phase } = info;
  if (!shadow || phase.kind !== 'staged') return GOES_ON;
  const kept = keptBack(node);
  if (kept) return callOff(kept);
  const unknown = unknownTo(context);
  if (unknown) return wait(unknown);
  const forbidden = orderedOtherwise(shadow) ?? forbiddenBy(ruling);
  if (forbidden) return { stop: forbidden, changesAt: NEVER };
  const freeze = context.groups.of(info)?.freeze ?? PASS;
  if (freeze.finding) return callOff(freeze.finding, freeze.changesAt);
  const result = afterFreeze(info, shadow, context);
  return { ...result, changesAt: Math.min(freeze.changesAt, result.changesAt) };
}

const unknownTo = ({ snapshot: { notCurrent: lost }, rulings }: GateContext): Finding | undefined =>
  lost === undefined ? rulings.unknown : notCurrent(lost);

/**
 * A host that offers versions by itself ends the update when its offer changes. A host that is ordered its version does not notice, so its
 * update is called off here.
 */
function orderedOtherwise({ order, spec }: ShadowView): Stop | undefined {
  if (!order || order.stop) return order?.stop;
  if (order.version === spec.version) return undefined;
  return { kind: 'call-off', because: found('NoUpdateOffered', `${order.version} is wanted by now`) };
}

function forbiddenBy(ruling: AssessedNode['ruling']): Stop | undefined {
  const because = byPolicy(ruling);
  return because && { kind: 'call-off', because };
}

const GOES_ON: SecondGateResult = { stop: undefined, changesAt: NEVER };
const callOff = (because: Finding, changesAt = NEVER): SecondGateResult => ({
  stop: { kind: 'call-off', because },
  changesAt,
});
const wait = (because: Finding): SecondGateResult => ({ stop: { kind: 'wait', because }, changesAt: NEVER });

function afterFreeze(info: AssessedNode, { spec, stale }: ShadowView, context: GateContext): SecondGateResult {
  const { node } = info;
  // A stale view may hide that this node was let through already. `Tally.begin` counts it as such.
  const version = stale ? undefined : spec.version;
  const release = version == null ? undefined : context.groups.of(info)?.releases.of(node.family, version);
  const bad = release && unsound(node, release);
  if (bad) return bad;
  if (context.snapshot.paused) return wait(PAUSED);
  if (!node.ready) return wait(NOT_READY);
  return release && !hasFailedOn(info, release) ? { ...GOES_ON, disturbedFor: release } : GOES_ON;
}

/** Proof is counted again: since the start, lost nodes may have come back, and nodes that proved the release may be gone. */
function unsound(node: NodeView, release: OsRelease): SecondGateResult | undefined {
  const { proof, failed, failuresLeft } = release;
  if (failed.has(node.uid)) return undefined;
  if (failuresLeft <= 0) return callOff(haltedOn(release));
  return proof.letsThrough ? undefined : callOff(release.unprovenBut(node.name), proof.letsThroughAt);
}

/** A drain may be refused for this long before its update is called off: a budget may be used up only while pods start on other nodes. */
const REFUSED_MS = 120_000;

/**
 * When an update is called off because its drain is refused and other nodes wait for its slot: the refusal does not end by itself (rule L8).
 * A node without its agent is rescued instead.
 */
function callOffAt({ shadow, health, phase }: AssessedNode, { drainRefusals }: GateContext['snapshot']): number {
  if (!shadow || shadow.stale || health.agentSilent || !isRefused(phase)) return NEVER;
  const refusal = drainRefusals.get(shadow.name);
  return refusal?.kind === 'refused' ? refusal.since + REFUSED_MS : NEVER;
}

/** Why an update was called off, while its agent returns to Idle: the start gate says the same of the same offer. */
export function reasonOfCallOff(info: AssessedNode, context: GateContext): GateResult {
  const { shadow } = info;
  const { status } = shadow ?? {};
  if (!shadow || !status || !isCalledOff(info.phase)) return PASS;
  const { current_version: current, target_version: version } = status;
  return current === version ? PASS : gate(info, { shadow, version }, context);
}
