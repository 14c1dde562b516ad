import { rfc3339 } from '../lib/clock.ts';
import { randomId } from '../lib/random.ts';
import { olderInclusionPatch, olderUncordonPatch } from '../api/marks/older.ts';
import { excludeFromLbPatch, type NodePatch, releasePatch, removeExclusionPatch } from '../api/marks/patches.ts';
import type { VerifiedAgent } from './auth/authenticator.ts';
import type { Ports } from './ports.ts';
import { notAllowed } from './refusal.ts';
import type { NodeWrite } from '../api/shadow/drain.ts';
import type { DrainProgress } from '../api/shadow/model.ts';
import { type DrainCall, expectDrainable, expectInTime, progressAhead } from './drain/cordon.ts';
import { forgetRefusal, tellRefusal } from './refused-writes.ts';
import { markedByOlderApiserver, type NodeSnapshot, whyNotDrain, whyNotRelease } from './rules.ts';
import { retryOnConflict, takeSnapshot } from './snapshot.ts';

type NodePorts = Pick<Ports, 'nodes' | 'shadows' | 'clock' | 'random' | 'events' | 'logger'>;

/**
 * Keeps load balancers from the node. Where that is refused, the time of the drain runs already.
 * @throws RefusedError 409 where the update's state does not allow it, 504 past the deadline
 */
export function excludeFromLb(ports: Ports, call: DrainCall): Promise<void> {
  const { agent, settings } = call;
  return change(ports, { agent, write: 'exclusion', begun: () => progressAhead(ports, call) }, async (snapshot) => {
    allow(whyNotDrain(snapshot), 'no exclusion from load balancers');
    expectInTime(ports, snapshot, settings);
    await expectDrainable(ports, call, snapshot);
    const attempt = { id: randomId(ports.random), now: rfc3339(ports.clock.now()), boot: agent.bootId };
    return excludeFromLbPatch(snapshot.node, attempt);
  });
}

/** Lets load balancers use the node again, if it was excluded by us. @throws RefusedError 409 */
export function removeExclusionFromLb(ports: NodePorts, agent: VerifiedAgent): Promise<void> {
  return change(ports, { agent, write: 'inclusion' }, (snapshot) => {
    allow(whyNotRelease(snapshot), 'the exclusion from load balancers stays');
    return (
      removeExclusionPatch(snapshot.node) ??
      (markedByOlderApiserver(snapshot) ? olderInclusionPatch(snapshot.node) : undefined)
    );
  });
}

/** Undoes exactly what was done to the node for its update; what an administrator did stays. @throws RefusedError 409 */
export function uncordon(ports: NodePorts, agent: VerifiedAgent): Promise<void> {
  return change(ports, { agent, write: 'release' }, (snapshot) => {
    allow(whyNotRelease(snapshot), 'no uncordon');
    return (
      releasePatch(snapshot.node) ?? (markedByOlderApiserver(snapshot) ? olderUncordonPatch(snapshot.node) : undefined)
    );
  });
}

interface Change {
  readonly agent: VerifiedAgent;
  readonly write: NodeWrite;
  /** The progress in which a refusal is told where the status has none. */
  readonly begun?: () => Promise<DrainProgress>;
}

/** Writes the patch that `decide` makes from the node and its shadow. If somebody else wrote first, it decides again. */
function change(
  ports: NodePorts,
  { agent, write, begun }: Change,
  decide: (snapshot: NodeSnapshot) => NodePatch | undefined | Promise<NodePatch | undefined>,
): Promise<void> {
  return retryOnConflict(async () => {
    const { node, shadow } = await takeSnapshot(ports, agent);
    const patch = await decide({ node, shadow });
    if (!patch) return;
    const progress = shadow.status?.drain ?? undefined;
    const refused = { write, node, progress, shadowVersion: shadow.metadata.resourceVersion };
    try {
      await ports.nodes.patch(agent.nodeName, { ...patch });
    } catch (error) {
      await tellRefusal(ports, { ...refused, begun }, error);
      throw error;
    }
    await forgetRefusal(ports, refused);
  });
}

function allow(why: string | undefined, what: string): void {
  if (why !== undefined) throw notAllowed(`${what}: ${why}`);
}
