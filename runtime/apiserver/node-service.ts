import { rfc3339 } from '../lib/clock.ts';
import { olderInclusionPatch, olderUncordonPatch } from '../marks/older.ts';
import { excludeFromLbPatch, type NodePatch, releasePatch, removeExclusionPatch } from '../marks/patches.ts';
import type { Agent } from './agent.ts';
import { randomId } from './ids.ts';
import type { Ports } from './ports.ts';
import { notAllowed } from './refusal.ts';
import { markedByOlderApiserver, type Sight, whyNotDrain, whyNotRelease } from './rules.ts';
import { fromTheStart, look } from './sight.ts';

type NodePorts = Pick<Ports, 'nodes' | 'shadows' | 'clock' | 'random'>;

/** Keeps load balancers from the node. @throws RefusedError 409 where the update's state does not allow it */
export function excludeFromLb(ports: NodePorts, agent: Agent): Promise<void> {
  return change(ports, agent, (sight) => {
    allow(whyNotDrain(sight), 'no exclusion from load balancers');
    const attempt = { id: randomId(ports.random), now: rfc3339(ports.clock.now()), boot: agent.bootId };
    return excludeFromLbPatch(sight.node, attempt);
  });
}

/** Gives the node back to load balancers, if it was excluded by us. @throws RefusedError 409 */
export function removeExclusionFromLb(ports: NodePorts, agent: Agent): Promise<void> {
  return change(ports, agent, (sight) => {
    allow(whyNotRelease(sight), 'the exclusion from load balancers stays');
    return (
      removeExclusionPatch(sight.node) ?? (markedByOlderApiserver(sight) ? olderInclusionPatch(sight.node) : undefined)
    );
  });
}

/** Undoes exactly what was done to the node for its update; what an administrator did stays. @throws RefusedError 409 */
export function uncordon(ports: NodePorts, agent: Agent): Promise<void> {
  return change(ports, agent, (sight) => {
    allow(whyNotRelease(sight), 'no uncordon');
    return releasePatch(sight.node) ?? (markedByOlderApiserver(sight) ? olderUncordonPatch(sight.node) : undefined);
  });
}

/** Writes what `decide` makes of the node and its shadow, decided anew whenever somebody else was first. */
function change(ports: NodePorts, agent: Agent, decide: (sight: Sight) => NodePatch | undefined): Promise<void> {
  return fromTheStart(async () => {
    const patch = decide(await look(ports, agent));
    if (patch) await ports.nodes.patch(agent.nodeName, { ...patch });
  });
}

function allow(why: string | undefined, what: string): void {
  if (why !== undefined) throw notAllowed(`${what}: ${why}`);
}
