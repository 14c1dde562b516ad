import { isDeepStrictEqual } from 'node:util';
import { rfc3339 } from '../../lib/clock.ts';
import { joinParts } from '../../lib/parts.ts';
import type { KubeObject, Node } from '../../kube/objects.ts';
import type { ShadowObject } from '../../kube/shadows.ts';
import { type Attempt, cordonPatch, drainOn } from '../../marks/patches.ts';
import type { DrainProgress } from '../../shadow/model.ts';
import type { Agent } from '../agent.ts';
import type { Preflight } from '../config.ts';
import { randomId } from '../ids.ts';
import type { Ports } from '../ports.ts';
import { notAllowed, RefusedError } from '../refusal.ts';
import { type Sight, whyNotDrain } from '../rules.ts';
import { fromTheStart, look } from '../sight.ts';
import { drainBlocked, drainMayTimeOut } from './events.ts';
import { foresee, outlasting, preflightOf } from './preflight.ts';
import { statedReasons } from './stated.ts';
import { podsOf, type Survey, surveyOf } from './survey.ts';
import { type Blocked, nameOf, progressOf, reasonsOf } from './words.ts';

/** A node that may be drained and is cordoned for it. */
export interface Admitted {
  /** As it was at the moment it was seen, or made, cordoned by this drain. */
  readonly node: Node;
  /** Identity of the drain. */
  readonly id: string;
  /** When the drain began (RFC 3339). */
  readonly since: string;
  /** Pods that were created after this (RFC 3339) came after the cordon. */
  readonly lateAfter: string;
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
  /** How long a drain may take, milliseconds; 0 = for ever. */
  readonly timeoutMs: number;
}

/**
 * Admits a drain and cordons the node. The shadow's status is written with the version that was looked at, then marks and cordon with the
 * node's: whoever changed either in between has this begin anew, so that a caller who slept cannot cordon on what was true long ago.
 * @throws RefusedError 409 where the update's state, or the preflight, does not allow a drain, 503 where the caller's drain is over
 */
export function admit(ports: Ports, admission: Admission): Promise<Admitted> {
  return fromTheStart(async () => {
    const considered = await consider(ports, admission);
    const { sight, attempt, drain, seen, progress, refusal } = considered;
    if (refusal) return refuse(ports, considered, refusal);
    if (drain.begun) {
      foretell(ports, considered);
      foretellTimeout(ports, considered);
    }
    const { resourceVersion: shadowVersion } = await state(ports, considered);
    const patch = cordonPatch(sight.node, attempt);
    const node = patch ? await ports.nodes.patch(sight.node.metadata.name, { ...patch }) : sight.node;
    return { ...drain, node, progress, shadowVersion, survey: patch ? undefined : seen };
  });
}

/**
 * Makes sure that a drain, if it were asked for now, would not be refused by the preflight: what is done to a node before its drain would
 * last as long as the refusal.
 * @throws RefusedError 409, as `admit` does
 */
export function expectDrainable(
  ports: Ports,
  asked: Pick<Admission, 'agent' | 'preflight' | 'timeoutMs'>,
): Promise<void> {
  return fromTheStart(async () => {
    const considered = await consider(ports, { ...asked, id: undefined, blocked: undefined });
    if (considered.refusal) await refuse(ports, considered, considered.refusal);
  });
}

interface Look {
  readonly admission: Admission;
  readonly sight: Sight;
  readonly attempt: Attempt;
  readonly drain: Drain;
  readonly seen: Survey;
}

interface Considered extends Look {
  /** What the status has to say. */
  readonly progress: DrainProgress;
  /** Undefined where the drain may begin, or go on. */
  readonly refusal: RefusedError | undefined;
}

/** Looks at everything and writes nothing. */
async function consider(ports: Ports, admission: Admission): Promise<Considered> {
  const { agent } = admission;
  const sight = await look(ports, agent);
  const preflight = preflightOf(sight.node, admission.preflight);
  const why = whyNotDrain(sight);
  if (why !== undefined) throw notAllowed(`no drain: ${why}`);
  const anew = { id: randomId(ports.random), now: rfc3339(ports.clock.now()), boot: agent.bootId };
  const pods = await podsOf(ports, agent.nodeName);
  const attempt = { ...anew, newestPod: newestCreation([sight.node, ...pods]) };
  const drain = joined(sight, attempt, admission);
  const seen = await surveyOf(ports, pods, { nodeName: agent.nodeName, lateAfter: drain.lateAfter });
  const seenBy = { admission: { ...admission, preflight }, sight, attempt, drain, seen };
  if (!drain.begun) return { ...seenBy, progress: laterProgress(seenBy), refusal: undefined };
  const blocked = await foresee(ports, seen.left, preflight);
  const progress = progressOf(drain.since, seen.left, blocked);
  return { ...seenBy, progress, refusal: refusalOf(preflight, reasonsOf(seen.left, blocked)) };
}

/** Bears the version of the shadow that was looked at. */
async function state({ shadows }: Ports, { sight, progress }: Considered): Promise<ShadowObject['metadata']> {
  const { name, resourceVersion } = sight.shadow.metadata;
  return (await shadows.patchStatus(name, { metadata: { resourceVersion }, status: { drain: progress } })).metadata;
}

/** An agent that is refused asks again and again: what has not changed since is not written anew. */
async function refuse(ports: Ports, considered: Considered, refusal: RefusedError): Promise<never> {
  const { sight, progress } = considered;
  foretell(ports, considered);
  const stated = sight.shadow.status?.drain?.blocked_by;
  if (!isDeepStrictEqual(stated, progress.blocked_by)) await state(ports, considered);
  throw refusal;
}

/** RFC 3339. A node is older than its pods, and stands for them where it has none. */
function newestCreation(objects: readonly KubeObject[]): string | undefined {
  const times = objects.flatMap(({ metadata }) => metadata.creationTimestamp ?? []);
  return times.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
}

type Drain = Pick<Admitted, 'id' | 'since' | 'begun' | 'lateAfter'>;

function joined({ node }: Sight, attempt: Attempt, { id: own }: Admission): Drain {
  const { id, since, newestPod: lateAfter = since } = drainOn(node, attempt);
  if (own !== undefined && own !== id) throw superseded();
  return { id, since, lateAfter, begun: id === attempt.id };
}

/** Says of a drain that begins, or is refused, what will not let it end. */
function foretell(ports: Ports, { admission: { preflight }, sight, drain, progress }: Considered): void {
  if (progress.blocked_by.length === 0) return;
  void ports.events.record(sight.node, drainBlocked(preflight, progress));
  const fields = { node: sight.node.metadata.name, drain: drain.id, blocked_by: progress.blocked_by };
  if (preflight === 'warn') ports.logger.warn('drain blocked', fields);
}

/** Says of a drain that begins which of its pods may take longer than it may. */
function foretellTimeout(ports: Ports, { admission: { timeoutMs }, sight, drain, seen }: Considered): void {
  const patient = outlasting(seen.left, timeoutMs);
  if (patient.length === 0) return;
  void ports.events.record(sight.node, drainMayTimeOut(timeoutMs, patient));
  const fields = { node: sight.node.metadata.name, drain: drain.id, pods: patient.map(nameOf) };
  ports.logger.warn('pods may outlast their drain', fields);
}

/** While pods are left, a replica that has not worked on the drain leaves what those that do have stated. */
function laterProgress({ admission, sight, drain, seen }: Look): DrainProgress {
  const stated = sight.shadow.status?.drain;
  const isKnown = seen.left.length === 0 || admission.blocked !== undefined || stated?.started_at !== drain.since;
  if (!isKnown) return stated;
  const earlier = stated?.started_at === drain.since ? statedReasons(stated, seen.left) : [];
  return progressOf(drain.since, seen.left, new Map([...earlier, ...(admission.blocked ?? [])]));
}

function refusalOf(preflight: Preflight, reasons: readonly string[]): RefusedError | undefined {
  if (preflight === 'warn' || reasons.length === 0) return undefined;
  return new RefusedError(409, 'Undrainable', `no drain: it could not end, because of ${joinParts(reasons)}`);
}

/** 503: the marks are gone or another drain's, so that this one is over; the agent looks again and asks again. */
export function superseded(): RefusedError {
  return new RefusedError(503, 'Superseded', 'the drain was superseded or its marks were released; ask again');
}
