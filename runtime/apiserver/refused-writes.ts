import { ApiStatusError, BusyError, ConflictError, NotFoundError, UnexpectedAnswerError } from '../kube/errors.ts';
import type { Node } from '../kube/objects.ts';
import { rfc3339 } from '../lib/clock.ts';
import { shortened } from '../lib/parts.ts';
import type { DrainProgress } from '../shadow/model.ts';
import { shadowName } from '../shadow/names.ts';
import type { Ports } from './ports.ts';

/** Writes to a Node that an admission policy or a webhook may refuse for as long as it likes. */
export type NodeWrite = 'exclusion' | 'cordon' | 'proof' | 'release' | 'inclusion';

/** Bytes of what the API server said. */
const LONGEST_ANSWER = 256;
const REFUSED = /^the (?:exclusion|cordon|proof|release|inclusion) is refused: /;

/** Those of `blocked_by` that are about the Node and not about its pods. */
export const refusalsIn = (blocked_by: readonly string[]): string[] => blocked_by.filter((text) => REFUSED.test(text));

interface RefusedWrite {
  readonly write: NodeWrite;
  /** As it was read. */
  readonly node: Node;
  /** As the shadow's status has it; undefined where there is none. */
  readonly progress: DrainProgress | undefined;
  /** resourceVersion of the shadow with that. */
  readonly shadowVersion: string;
}

/**
 * Says in an Event, and in `status.drain.blocked_by`, whose words refuse a write to the Node, and since when: a person has to see why nothing
 * goes on. Says nothing of errors that are about neither, such as a conflict. Never rejects.
 */
export async function tellRefusal(
  { events, shadows, clock, logger }: Pick<Ports, 'events' | 'shadows' | 'clock' | 'logger'>,
  { write, node, progress, shadowVersion }: RefusedWrite,
  error: unknown,
): Promise<void> {
  if (!isRefusal(error)) return;
  const { code, reason = '', message = '' } = error.status;
  const words = `the ${write} is refused: ${shortened(`${code} ${reason}: ${message}`, LONGEST_ANSWER)}`;
  void events.record(node, { type: 'Warning', reason: 'WriteRefused', message: words });
  if (!progress || progress.blocked_by.some((text) => text.startsWith(words))) return;
  const blocked_by = [`${words} (since ${rfc3339(clock.now())})`];
  await state({ shadows, logger }, { node, progress: { ...progress, blocked_by }, shadowVersion });
}

/** Takes back what `tellRefusal` has written, once the API server has taken a write to the Node. Never rejects. */
export async function forgetRefusal(
  ports: StatusPorts,
  { node, progress, shadowVersion }: Omit<RefusedWrite, 'write'>,
): Promise<void> {
  if (!progress || refusalsIn(progress.blocked_by).length === 0) return;
  await state(ports, { node, progress: { ...progress, blocked_by: [] }, shadowVersion });
}

type StatusPorts = Pick<Ports, 'shadows' | 'logger'>;

async function state(
  { shadows, logger }: StatusPorts,
  { node, progress: drain, shadowVersion: resourceVersion }: Omit<RefusedWrite, 'write'>,
): Promise<void> {
  const patch = { metadata: { resourceVersion }, status: { drain } };
  await shadows.patchStatus(shadowName(node.metadata.name), patch).catch((error: unknown) => {
    logger.debug('refusal not written', { node: node.metadata.name, error });
  });
}

function isRefusal(error: unknown): error is ApiStatusError {
  const others = [ConflictError, NotFoundError, BusyError, UnexpectedAnswerError];
  return error instanceof ApiStatusError && !others.some((kind) => error instanceof kind);
}
