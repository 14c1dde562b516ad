import { isDeepStrictEqual } from 'node:util';
import { rfc3339 } from '../../lib/clock.ts';
import type { Node } from '../../kube/objects.ts';
import { type Attempt, cordonPatch, drainOn } from '../../marks/patches.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import { shadowName } from '../../shadow/names.ts';
import type { Agent } from '../agent.ts';
import type { Preflight } from '../config.ts';
import { randomId } from '../ids.ts';
import type { Ports } from '../ports.ts';
import { notAllowed, RefusedError } from '../refusal.ts';
import { type Sight, whyNotDrain } from '../rules.ts';
import { fromTheStart, look } from '../sight.ts';
import { drainBlocked } from './events.ts';
import { foresee } from './preflight.ts';
import { type Survey, survey } from './survey.ts';
import { type Blocked, progressOf } from './words.ts';

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
  /** Whether this call is what began the drain. */
  readonly begun: boolean;
  /** The pods of the node, read after it was seen cordoned; undefined where this call cordoned it. */
  readonly survey: Survey | undefined;
}

export interface Admission {
  readonly agent: Agent;
  /** Identity of the drain that the caller takes part in already; undefined = any. */
  readonly id: string | undefined;
  /** What stood in the way of the run that the caller has waited for; undefined = of no run yet. */
  readonly blocked: Blocked | undefined;
  /** What to do with a new drain that could not end as things are. */
  readonly preflight: Preflight;
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
    const drain = joined(sight, attempt, admission);
    const seen = await survey(ports, { nodeName: agent.nodeName, since: drain.since });
    const progress = await (drain.begun ? firstProgress : laterProgress)(ports, { admission, sight, drain, seen });
    const refusal = drain.begun ? refusalOf(admission.preflight, progress) : undefined;
    if (refusal && isStated(progress, sight)) throw refusal;
    const shadow = await ports.shadows.patchStatus(shadowName(agent.nodeName), {
      metadata: { resourceVersion: sight.shadow.metadata.resourceVersion },
      status: { drain: progress },
    });
    if (refusal) throw refusal;
    const patch = cordonPatch(sight.node, attempt);
    const node = patch ? await ports.nodes.patch(agent.nodeName, { ...patch }) : sight.node;
    const { resourceVersion: shadowVersion } = shadow.metadata;
    return { ...drain, node, progress, shadowVersion, survey: patch ? undefined : seen };
  });
}

type Drain = Pick<Admitted, 'id' | 'since' | 'begun'>;

function joined({ node }: Sight, attempt: Attempt, { id: own }: Admission): Drain {
  const { id, since } = drainOn(node, attempt);
  if (own !== undefined && own !== id) throw superseded();
  return { id, since, begun: id === attempt.id };
}

interface Look {
  readonly admission: Admission;
  readonly sight: Sight;
  readonly drain: Drain;
  readonly seen: Survey;
}

async function firstProgress(ports: Ports, { admission, sight, drain, seen }: Look): Promise<DrainProgress> {
  const { preflight } = admission;
  const progress = progressOf(drain.since, seen.left, await foresee(ports, seen.left, preflight));
  if (progress.blocked_by.length > 0) void ports.events.record(sight.node, drainBlocked(preflight, progress));
  return progress;
}

/** While pods are left, a replica that has not worked on the drain leaves what those that do have stated. */
async function laterProgress(_: Ports, { admission, sight, drain, seen }: Look): Promise<DrainProgress> {
  const stated = sight.shadow.status?.drain;
  const isKnown = seen.left.length === 0 || admission.blocked !== undefined || stated?.started_at !== drain.since;
  return isKnown ? progressOf(drain.since, seen.left, admission.blocked ?? new Map()) : stated;
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
