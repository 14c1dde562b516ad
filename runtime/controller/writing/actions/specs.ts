import type { ShadowObject } from '../../../api/resources.ts';
import { rfc3339 } from '../../../lib/clock.ts';
import type { Spec } from '../../../api/shadow/model.ts';
import { type LetFinish, letFinishText } from '../../../api/shadow/let-finish.ts';
import { type Crossed, crossedText } from '../../../api/shadow/crossed.ts';
import { budgetsIn } from '../../../api/shadow/drain.ts';
import { hintText } from '../../../api/shadow/hint.ts';
import {
  COMPONENT_LABEL,
  COMPONENTS,
  CROSSED_ANNOTATION,
  LAST_ATTEMPT_ANNOTATION,
  LAST_REBOOT_ANNOTATION,
  LAST_UPDATE_ANNOTATION,
  LAST_UPDATE_FINISHED_ANNOTATION,
  LET_FINISH_ANNOTATION,
  MOVED_NOBODY_ANNOTATION,
  NAME_LABEL,
  STAGE_ANNOTATION,
  VERSION_BEFORE_ANNOTATION,
} from '../../../api/shadow/names.ts';
import type { CallOff, Completion, SetHint, SetWish } from '../../plan/facts/commands.ts';
import { isToldToDrain, mayCallOff, phaseOf } from '../../plan/facts/phase.ts';
import { type NodeFacts, type ShadowFacts, viewOfNode } from '../../seeing/views.ts';
import { DroppedError } from '../write-limiter.ts';
import { type ActionPorts, ownShadow } from './ports.ts';

export interface SpecWrite {
  readonly shadow: string;
  readonly resourceVersion: string;
  readonly spec: Spec;
  /** Where it completes an update. */
  readonly completes?: Completion;
  /** Where it asks for a drain; absent elsewhere. */
  readonly letFinish?: LetFinish | undefined;
  /** What the shadow says besides where it starts an update, or calls it off. Null takes away. */
  readonly annotations?: Readonly<Record<string, string | null>>;
}

/** Writes a spec on the shadow as it was read. @throws ConflictError, NotFoundError, UnreachableError (it may land yet) */
export async function writeSpec(
  { shadows, expectations, clock }: Pick<ActionPorts, 'shadows' | 'expectations' | 'clock'>,
  { shadow, resourceVersion, spec, completes, annotations: said, ...asked }: SpecWrite,
  signal: AbortSignal,
): Promise<ShadowObject> {
  const letFinish = 'letFinish' in asked ? { [LET_FINISH_ANNOTATION]: letFinishText(asked.letFinish) } : undefined;
  const annotations = completes ? completed(completes, clock.now()) : (said ?? letFinish);
  const metadata = { resourceVersion, ...(annotations && { annotations }) };
  const written = await shadows.patch(shadow, { metadata, spec }, signal);
  expectations.written(shadow, written.metadata.resourceVersion);
  return written;
}

/** Of the update, how long it and its reboot took, where that is known, when it was over, and what to go back to: nothing, where that is not known. */
function completed(
  { beganAt, rebootMs, attempt, versionBefore, movedNobody }: Completion,
  now: number,
): Readonly<Record<string, string | null>> {
  return {
    ...(beganAt !== undefined && { [LAST_UPDATE_ANNOTATION]: seconds(now - beganAt) }),
    ...(rebootMs !== undefined && { [LAST_REBOOT_ANNOTATION]: seconds(rebootMs) }),
    [LAST_UPDATE_FINISHED_ANNOTATION]: rfc3339(now),
    [LAST_ATTEMPT_ANNOTATION]: attempt ?? null,
    [VERSION_BEFORE_ANNOTATION]: versionBefore ?? null,
    [CROSSED_ANNOTATION]: null,
    ...(movedNobody && { [MOVED_NOBODY_ANNOTATION]: rfc3339(now) }),
  };
}

const seconds = (ms: number): string => String(Math.round(ms / 1000));

/** Rule H2. @throws ConflictError, NotFoundError */
export async function writeHint(
  { shadows, expectations, clock }: Pick<ActionPorts, 'shadows' | 'expectations' | 'clock'>,
  { shadow, resourceVersion, version }: SetHint,
  signal: AbortSignal,
): Promise<'done'> {
  const value = version === null ? null : hintText(version, clock.now());
  const metadata = { resourceVersion, annotations: { [STAGE_ANNOTATION]: value } };
  const written = await shadows.patch(shadow, { metadata }, signal);
  expectations.written(shadow, written.metadata.resourceVersion);
  return 'done';
}

/** Rule P12. @throws ConflictError, NotFoundError, DroppedError */
export async function writeWish(
  { shadows, expectations }: Pick<ActionPorts, 'shadows' | 'expectations'>,
  { shadow, resourceVersion, wish, annotations }: SetWish,
  signal: AbortSignal,
): Promise<'done'> {
  const version_wish = wish && { ...NO_WISH, ...wish };
  const metadata = { resourceVersion, ...(annotations && { annotations }) };
  const written = await shadows.patch(shadow, { metadata, spec: { version_wish } }, signal);
  expectations.written(shadow, written.metadata.resourceVersion);
  if (wish && written.spec.version_wish == null) throw new DroppedError();
  return 'done';
}

/** A merge patch leaves alone what it does not name. */
const NO_WISH = { version_lock: null, ignore_waves: null };

/**
 * The write that calls the update off (rules L8 and M12); undefined where the state is another one by now. The Node is read first: a drain that is
 * under way, or over, shows on it. One that begins after that changes the shadow, and so does the agent once its drain is over: the write gets 409.
 */
export async function callOff(
  ports: ActionPorts,
  { node: nodeName, shadow, spec, crossed }: CallOff,
  signal: AbortSignal,
): Promise<SpecWrite | undefined> {
  const node = await ports.nodes.get(nodeName, signal);
  const live = node && (await ownShadow(ports, { shadow, nodeUid: node.metadata.uid }, signal));
  if (!live || (live.spec.version ?? null) !== spec.version) return undefined;
  const view = viewOfNode(node);
  const phase = phaseOf(live, view);
  const isDue = crossed ? isStillCrossed(crossed, live, view) : mayCallOff(phase);
  const isAsked = isToldToDrain(phase) || phase.kind === 'draining';
  if (!isDue || (isAsked && !(await drainsAreOurs(ports, signal)))) return undefined;
  return { shadow, resourceVersion: live.resourceVersion, spec, ...saidOf(crossed) };
}

const saidOf = (crossed: Crossed | undefined): Pick<SpecWrite, 'annotations'> =>
  crossed ? { annotations: { [CROSSED_ANNOTATION]: crossedText(crossed) } } : {};

/** Its drain waits as it did, and the node takes pods again once that ends. */
function isStillCrossed(
  { budgets: [awaited] }: Crossed,
  shadow: Pick<ShadowFacts, 'spec' | 'status'>,
  node: Pick<NodeFacts, 'marks' | 'unschedulable' | 'bootId' | 'version' | 'held'>,
): boolean {
  const phase = phaseOf(shadow, node);
  const isUnasked = phase.kind === 'draining' && phase.isUnasked && node.marks?.drained === undefined;
  return isUnasked && !node.held && budgetsIn(shadow.status?.drain?.blocked_by ?? []).has(awaited);
}

/**
 * Whether every replica of the apiserver is one of ours: a replica of the older operator drains a node whatever spec says by then. Both have pods
 * with the component's label.
 */
async function drainsAreOurs({ pods }: ActionPorts, signal: AbortSignal): Promise<boolean> {
  const found = await pods.list({ labelSelector: `${COMPONENT_LABEL}=${COMPONENTS.apiserver}` }, signal);
  return found.every(({ metadata }) => metadata.labels?.[NAME_LABEL] !== undefined);
}
