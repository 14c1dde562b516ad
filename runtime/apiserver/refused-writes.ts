import { ApiStatusError, ConflictError, NotFoundError, UnreachableError } from '../kube/errors.ts';
import type { Node } from '../kube/objects.ts';
import { instantOf, rfc3339 } from '../lib/clock.ts';
import { shortened } from '../lib/parts.ts';
import { type NodeWrite, refusalsIn } from '../api/shadow/drain.ts';
import type { DrainProgress } from '../api/shadow/model.ts';
import { shadowName } from '../api/shadow/names.ts';
import type { Ports } from './ports.ts';

/** Bytes of what the API server said. */
const LONGEST_ANSWER = 256;
/** What has not changed is said again after this time. An agent that is refused asks more often. */
export const SAID_AGAIN_MS = 20_000;

interface RefusedWrite {
  readonly write: NodeWrite;
  /** As it was read. */
  readonly node: Node;
  /** As the shadow's status has it; undefined where there is none. */
  readonly progress: DrainProgress | undefined;
  /** The progress in which it is told then. */
  readonly begun?: (() => Promise<DrainProgress>) | undefined;
  /** resourceVersion of the shadow with that. */
  readonly shadowVersion: string;
}

type StatusPorts = Pick<Ports, 'shadows' | 'clock' | 'logger'>;
type EventPorts = Pick<Ports, 'events'>;

/**
 * Says in an Event, and in `status.drain.blocked_by`, whose words refuse a write to the Node, and since when: a person has to see why nothing
 * goes on. Says nothing of errors that only ask for another look. Never rejects.
 */
export async function tellRefusal(
  ports: StatusPorts & EventPorts,
  { write, node, progress: stated, begun, shadowVersion }: RefusedWrite,
  error: unknown,
): Promise<void> {
  const words = refusalOf(write, error);
  if (words === undefined) return;
  void ports.events.record(node, { type: 'Warning', reason: 'WriteRefused', message: words });
  const progress = stated ?? (await begun?.().catch(() => undefined));
  if (!progress) return;
  const now = ports.clock.now();
  const known = progress.blocked_by.filter((text) => text.startsWith(words));
  if (known.length > 0 && !isOld(progress, now)) return;
  const blocked_by = known.length > 0 ? known : [`${words} (since ${rfc3339(now)})`];
  await state(ports, { node, progress: { ...progress, blocked_by }, shadowVersion });
}

/** Takes back what `tellRefusal` has written, once the API server has taken a write to the Node. Never rejects. */
export async function forgetRefusal(
  ports: StatusPorts,
  { node, progress, shadowVersion }: Omit<RefusedWrite, 'write' | 'begun'>,
): Promise<void> {
  if (!progress || refusalsIn(progress.blocked_by).length === 0) return;
  await state(ports, { node, progress: { ...progress, blocked_by: [] }, shadowVersion });
}

/**
 * Says in an Event that the status of the node's shadow is refused, which then cannot say it itself.
 * @returns whether it is: other errors ask for another look
 */
export function tellRefusedReport({ events }: EventPorts, node: Node, error: unknown): boolean {
  const message = refusalOf('report', error);
  if (message !== undefined) void events.record(node, { type: 'Warning', reason: 'WriteRefused', message });
  return message !== undefined;
}

/** A merge patch leaves alone what it does not name. */
export const NO_WAIT = { waits_for: null, waits_until: null };

/** With the time at which it is so. */
export const stamped = (progress: DrainProgress, now: number): DrainProgress => ({
  ...NO_WAIT,
  ...progress,
  reported_at: rfc3339(now),
});

/** Whether what was said has to be said again, though it has not changed. */
export const isOld = ({ reported_at }: DrainProgress, now: number): boolean =>
  now - (instantOf(reported_at) ?? -Infinity) >= SAID_AGAIN_MS;

async function state(
  { shadows, clock, logger }: StatusPorts,
  {
    node,
    progress,
    shadowVersion: resourceVersion,
  }: Pick<RefusedWrite, 'node' | 'shadowVersion'> & {
    readonly progress: DrainProgress;
  },
): Promise<void> {
  const patch = { metadata: { resourceVersion }, status: { drain: stamped(progress, clock.now()) } };
  await shadows.patchStatus(shadowName(node.metadata.name), patch).catch((error: unknown) => {
    logger.debug('refusal not written', { node: node.metadata.name, error });
  });
}

/** In stable words; undefined for what only asks for another look. */
function refusalOf(write: NodeWrite | 'report', error: unknown): string | undefined {
  if (error instanceof ConflictError || error instanceof NotFoundError) return undefined;
  if (error instanceof UnreachableError) return `the ${write} is not answered`;
  if (!(error instanceof ApiStatusError)) return undefined;
  const { code, reason = '', message = '' } = error.status;
  return `the ${write} is refused: ${shortened(`${code} ${reason}: ${message}`, LONGEST_ANSWER)}`;
}
