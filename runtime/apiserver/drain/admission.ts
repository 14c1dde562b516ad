import { rfc3339 } from '../../lib/clock.ts';
import type { Node } from '../../kube/objects.ts';
import { cordonPatch, drainOn } from '../../marks/patches.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import { shadowName } from '../../shadow/names.ts';
import type { Agent } from '../agent.ts';
import { randomId } from '../ids.ts';
import type { Ports } from '../ports.ts';
import { notAllowed, RefusedError } from '../refusal.ts';
import { whyNotDrain } from '../rules.ts';
import { fromTheStart, look } from '../sight.ts';

/** A node that may be drained and is cordoned for it. */
export interface Admitted {
  /** As it was at the moment it was seen, or made, cordoned by this drain. */
  readonly node: Node;
  /** Identity of the drain. */
  readonly id: string;
  /** When the drain began (RFC 3339). */
  readonly since: string;
  /** As it stands in the shadow's status. */
  readonly progress: DrainProgress;
  /** resourceVersion of the shadow after that. */
  readonly shadowVersion: string;
  /** Whether this call is what cordoned the node. */
  readonly begun: boolean;
}

export interface Admission {
  readonly agent: Agent;
  /** Identity of the drain that the caller takes part in already; undefined = any. */
  readonly id: string | undefined;
  /** Progress to state; undefined = what stands there, or for a new drain what `countPods` says. */
  readonly progress: DrainProgress | undefined;
  countPods(since: string): Promise<number>;
}

/**
 * Admits a drain and cordons the node. The shadow's status is written with the version that was looked at, then marks and cordon with the
 * node's: whoever changed either in between has this begin anew, so that a caller who slept cannot cordon on what was true long ago.
 * @throws RefusedError 409 where the update's state does not allow a drain, 503 where the caller's drain is over
 */
export function admit(ports: Ports, admission: Admission): Promise<Admitted> {
  return fromTheStart(async () => {
    const { agent } = admission;
    const sight = await look(ports, agent);
    const why = whyNotDrain(sight);
    if (why !== undefined) throw notAllowed(`no drain: ${why}`);
    const attempt = { id: randomId(ports.random), now: rfc3339(ports.clock.now()), boot: agent.bootId };
    const { id, since } = drainOn(sight.node, attempt);
    if (admission.id !== undefined && admission.id !== id) throw superseded();
    const stated = sight.shadow.status?.drain;
    const progress =
      admission.progress ??
      (stated?.started_at === since
        ? stated
        : { started_at: since, pods_left: await admission.countPods(since), blocked_by: [] });
    const shadow = await ports.shadows.patchStatus(shadowName(agent.nodeName), {
      metadata: { resourceVersion: sight.shadow.metadata.resourceVersion },
      status: { drain: progress },
    });
    const patch = cordonPatch(sight.node, attempt);
    const node = patch ? await ports.nodes.patch(agent.nodeName, { ...patch }) : sight.node;
    const begun = id === attempt.id;
    return { node, id, since, progress, shadowVersion: shadow.metadata.resourceVersion, begun };
  });
}

/** 503: the marks are gone or another drain's, so that this one is over; the agent looks again and asks again. */
export function superseded(): RefusedError {
  return new RefusedError(503, 'Superseded', 'the drain was superseded or its marks were released; ask again');
}
