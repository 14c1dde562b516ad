import { nodeInfos } from '../../controller/plan/nodes/join.ts';
import type { Plan } from '../../controller/plan/plan.ts';
import { needsPerson } from '../../controller/plan/facts/reasons.ts';
import { PHASES } from '../../controller/plan/facts/phase.ts';
import type { NodeInfo, NodeView, ShadowView, Snapshot } from '../../controller/plan/facts/snapshot.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Inspection } from '../inspect.ts';

/** Longer than any forecast. */
const NEVER_MS = 10_000 * DAY_MS;

/** What a forecast starts from. */
interface Assumed {
  readonly snapshot: Snapshot;
  /** Names of the nodes that stay as they are, because only a person can change that, or because they fail again and so end no halt. */
  readonly stuck: ReadonlySet<string>;
}

/**
 * The fleet with what only a forecast assumes: a node that is away for its reboot returns, what failed on a halted release fails again, and an
 * update that needs somebody does not go on.
 */
export function assumedOf({ snapshot, plan, now }: Pick<Inspection, 'snapshot' | 'plan' | 'now'>): Assumed {
  const failing = failingOn(plan.halted);
  const infos = nodeInfos(snapshot);
  const failed = infos.filter((info) => failing.get(info.node.name)?.has(info.shadow?.status?.target_version ?? ''));
  const away = awayIn(infos, plan);
  const waiting = infos.filter(({ phase }) => PHASES[phase.kind].isUnderWay).map(({ node }) => node.name);
  const helpless = new Set(plan.verdicts.filter(({ reason }) => needsPerson(reason)).map(({ node }) => node));
  const stuck = new Set([...failed.map(({ node }) => node.name), ...waiting.filter((name) => helpless.has(name))]);
  if (failed.length === 0 && away.size === 0) return { snapshot, stuck };
  const again = new Map(failed.flatMap(({ shadow }) => (shadow ? [[shadow.name, failingAgain(shadow, now)]] : [])));
  const nodes = new Set(failed.map(({ node }) => node.name));
  return {
    snapshot: {
      ...snapshot,
      nodes: snapshot.nodes.map((node) => (away.has(node.name) ? back(node, now) : patient(node, nodes))),
      shadows: snapshot.shadows.map((shadow) => again.get(shadow.name) ?? shadow),
      silentSince: new Map([...snapshot.silentSince].filter(([name]) => !away.has(name))),
    },
    stuck,
  };
}

/** By name of the node, on which halted versions it failed. */
function failingOn(halted: Plan['halted']): ReadonlyMap<string, ReadonlySet<string>> {
  const ends = halted.flatMap(({ version, failed }) => failed.map(({ node }) => ({ node, version })));
  const byNode = Map.groupBy(ends, ({ node }) => node);
  return new Map([...byNode].map(([node, those]) => [node, new Set(those.map(({ version }) => version))]));
}

/** Names of the nodes that were asked to reboot, and of which nobody says yet that they are lost. */
function awayIn(infos: readonly NodeInfo[], { verdicts }: Plan): ReadonlySet<string> {
  const updating = new Set(verdicts.filter(({ reason }) => reason === 'Updating').map(({ node }) => node));
  const rebooting = infos.filter(({ phase, node }) => phase.kind === 'rebooting' && updating.has(node.name));
  return new Set(rebooting.map(({ node }) => node.name));
}

const back = (node: NodeView, now: number): NodeView =>
  node.ready ? node : { ...node, ready: true, readyChangedAt: now, readinessSeenAt: now, readyFrom: now };

const patient = (node: NodeView, failed: ReadonlySet<string>): NodeView =>
  failed.has(node.name) ? { ...node, retryOf: undefined } : node;

/** It backs off for longer than the forecast lasts. */
function failingAgain(shadow: ShadowView, now: number): ShadowView {
  const { status } = shadow;
  if (!status) return shadow;
  const crashes = Math.max(1, status.crash_count);
  const versions = [...new Set([...(status.failed_versions ?? []), status.target_version])];
  const failure = { ...status, crash_count: crashes, failed_versions: versions };
  return { ...shadow, status: failure, failedAt: now + NEVER_MS };
}
