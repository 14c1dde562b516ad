import { isDeepStrictEqual } from 'node:util';
import { rfc3339 } from '../../lib/clock.ts';
import type { Node } from '../../kube/objects.ts';
import { cordonPatch, drainOn } from '../../marks/patches.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import { shadowName } from '../../shadow/names.ts';
import type { Agent } from '../agent.ts';
import type { Preflight } from '../config.ts';
import { randomId } from '../ids.ts';
import type { Ports } from '../ports.ts';
import { notAllowed, RefusedError } from '../refusal.ts';
import { type Sight, whyNotDrain } from '../rules.ts';
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
  /** Progress to state; undefined = what stands there, or what `survey` says. */
  readonly progress: DrainProgress | undefined;
  /** What to do with a new drain that could not end as things are. */
  readonly preflight: Preflight;
  readonly survey: (beginning: Beginning) => Promise<DrainProgress>;
}

export interface Beginning {
  /** As it was read. */
  readonly node: Node;
  /** When the drain began (RFC 3339). */
  readonly since: string;
  /** Whether this is a drain that nobody has begun yet. */
  readonly begun: boolean;
}

/**
 * Admits a drain and cordons the node. The shadow's status is written with the version that was looked at, then marks and cordon with the
 * node's: whoever changed either in between has this begin anew, so that a caller who slept cannot cordon on what was true long ago.
 * @throws RefusedError 409 where the update's state, or the preflight, does not allow a drain, 503 where the caller's drain is over
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
    const begun = id === attempt.id;
    const progress = await progressOf(admission, sight, { since, begun });
    const refusal = begun ? refusalOf(admission.preflight, progress) : undefined;
    if (refusal && isStated(progress, sight)) throw refusal;
    const shadow = await ports.shadows.patchStatus(shadowName(agent.nodeName), {
      metadata: { resourceVersion: sight.shadow.metadata.resourceVersion },
      status: { drain: progress },
    });
    if (refusal) throw refusal;
    const patch = cordonPatch(sight.node, attempt);
    const node = patch ? await ports.nodes.patch(agent.nodeName, { ...patch }) : sight.node;
    return { node, id, since, progress, shadowVersion: shadow.metadata.resourceVersion, begun };
  });
}

async function progressOf(
  { progress, survey }: Admission,
  { node, shadow }: Sight,
  { since, begun }: Omit<Beginning, 'node'>,
): Promise<DrainProgress> {
  const stated = shadow.status?.drain;
  if (progress) return progress;
  return !begun && stated?.started_at === since ? stated : survey({ node, since, begun });
}

/** An agent that is refused asks again and again: what has not changed since is not written anew. */
function isStated({ blocked_by }: DrainProgress, { shadow }: Sight): boolean {
  return isDeepStrictEqual(shadow.status?.drain?.blocked_by, blocked_by);
}

function refusalOf(preflight: Preflight, { blocked_by }: DrainProgress): RefusedError | undefined {
  if (preflight === 'warn' || blocked_by.length === 0) return undefined;
  return new RefusedError(409, 'Undrainable', `no drain: it could not end, because of ${blocked_by.join(', ')}`);
}

/** 503: the marks are gone or another drain's, so that this one is over; the agent looks again and asks again. */
export function superseded(): RefusedError {
  return new RefusedError(503, 'Superseded', 'the drain was superseded or its marks were released; ask again');
}
