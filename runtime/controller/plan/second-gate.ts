import type { Group } from './groups.ts';
import type { AssessedNode } from './health.ts';
import { isCalledOff, isRefused, isStaged } from './machine.ts';
import { lostAt } from './proof.ts';
import type { OsRelease } from './releases.ts';
import { type GateResult, NEVER, nextAfter, PASS } from './requeue.ts';
import type { NodeView, ShadowView } from './snapshot.ts';
import { byPolicy, gate, type Gatekeeper, haltedOn, HELD, NOT_READY, PAUSED } from './start-gate.ts';
import type { Starts } from './starts.ts';
import { drainBlockedFinding, type Finding, found, type Stop } from './verdict.ts';

/** What the second gate says, and when time alone changes it. */
interface SecondGateResult {
  readonly stop: Stop | undefined;
  readonly changesAt: number;
}

/**
 * The second gate, before a node is disturbed for the version that it has staged (rule L8). What is forbidden by now, other than by the pause
 * of the namespace, is called off: it would hold a slot for as long. A pause, policies that cannot be read, and a node that is not Ready are
 * waited for. Nothing else stops what has begun: no window that has closed, no zone, and no other policy.
 */
function secondGate(info: AssessedNode, keeper: Gatekeeper): SecondGateResult {
  const { node, shadow, ruling } = info;
  if (!shadow || !isStaged(shadow)) return GOES_ON;
  if (node.held) return callOff(HELD);
  if (keeper.rulings.unknown) return wait(keeper.rulings.unknown);
  const forbidden = toldOtherwise(shadow) ?? forbiddenBy(ruling);
  if (forbidden) return { stop: forbidden, changesAt: NEVER };
  const freeze = keeper.groups.of(info)?.freeze ?? PASS;
  if (freeze.finding) return callOff(freeze.finding, freeze.changesAt);
  const { stop, changesAt } = afterFreeze(info, shadow, keeper);
  return { stop, changesAt: Math.min(freeze.changesAt, changesAt) };
}

/** A host that offers versions by itself sees that its offer has changed; for one that is told, nobody else does. */
function toldOtherwise({ told, spec }: ShadowView): Stop | undefined {
  if (!told || told.stop) return told?.stop;
  if (told.version === spec.version) return undefined;
  return { kind: 'call-off', because: found('NoUpdateOffered', `${told.version} is wanted by now`) };
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

function afterFreeze(info: AssessedNode, { spec, stale }: ShadowView, keeper: Gatekeeper): SecondGateResult {
  const { node } = info;
  // A view that is out of date may be of a node that was let through, and is counted as one already.
  const version = stale ? undefined : spec.version;
  const release = version == null ? undefined : keeper.groups.of(info)?.releases.of(node.family, version);
  const bad = release && unsound(node, release);
  if (bad) return bad;
  if (keeper.snapshot.paused) return wait(PAUSED);
  if (!node.ready) return wait(NOT_READY);
  if (release && !release.failed.has(node.uid)) release.proof.disturb(lostAt(info, keeper.settings));
  return GOES_ON;
}

/** Proof is counted again: nodes that nobody counted on may have come back, and those that proved the release may be gone. */
function unsound(node: NodeView, release: OsRelease): SecondGateResult | undefined {
  const { proof, failed, failuresLeft } = release;
  if (failed.has(node.uid)) return undefined;
  if (failuresLeft <= 0) return callOff(haltedOn(release));
  return proof.letsThrough ? undefined : callOff(release.unprovenBut(node.name), proof.letsThroughAt);
}

/** How long a refusal is waited out: a budget may be used up only for a moment, while pods of other nodes start. */
const REFUSED_MS = 120_000;

/**
 * When the update of a node whose drain is refused is called off, if others wait for its slot: the refusal does not end by itself (rule
 * L8). A node without its agent is rescued instead.
 */
function callOffAt({ node, shadow, health }: AssessedNode, { drainRefusals }: Gatekeeper['snapshot']): number {
  if (!shadow || shadow.stale || health.agentSilent || !isRefused(shadow, node.marks)) return NEVER;
  const refusal = drainRefusals.get(shadow.name);
  return refusal?.kind === 'refused' ? refusal.since + REFUSED_MS : NEVER;
}

/** Why an update was called off, while its agent returns to rest: the same gate keeps the node from starting again. */
export function stillRefused(info: AssessedNode, keeper: Gatekeeper): GateResult {
  const { shadow } = info;
  const { status } = shadow ?? {};
  if (!shadow || !status || !isCalledOff(shadow)) return PASS;
  const { current_version: current, target_version: version } = status;
  return current === version ? PASS : gate(info, { shadow, version }, keeper);
}

/** By UID of the node. */
export type Stops = ReadonlyMap<string, Stop>;

/** Which updates do not go on, and when time alone stops another, or lets one go on, among the nodes of a policy. */
export function stopsOf(
  unsettled: readonly AssessedNode[],
  { waiting, isCapped }: Starts,
  keeper: Gatekeeper,
): { readonly stops: Stops; readonly stopsAt: ReadonlyMap<Group | undefined, number> } {
  const stops = new Map<string, Stop>();
  const stopsAt = new Map<Group | undefined, number>();
  const note = (group: Group | undefined, instant: number): void => {
    if (instant !== NEVER) stopsAt.set(group, nextAfter(keeper.now, [instant, stopsAt.get(group) ?? NEVER]));
  };
  for (const info of unsettled) {
    const { node, shadow } = info;
    if (!node.managed) continue;
    const group = keeper.groups.of(info);
    const { stop, changesAt } = secondGate(info, keeper);
    note(group, changesAt);
    if (stop) stops.set(node.uid, stop);
    const isWaitedFor = isCapped || (group !== undefined && waiting.has(group));
    if (stop || !isWaitedFor) continue;
    const endsAt = callOffAt(info, keeper.snapshot);
    if (endsAt <= keeper.now) stops.set(node.uid, { kind: 'call-off', because: drainBlockedFinding(shadow?.status) });
    else note(group, endsAt);
  }
  return { stops, stopsAt };
}
