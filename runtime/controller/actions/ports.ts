import type { Collection, VersionedPatch } from '../../kube/collection.ts';
import type { Node, Pod, ShadowObject } from '../../kube/objects.ts';
import { type Clock, rfc3339 } from '../../lib/clock.ts';
import { LAST_UPDATE_ANNOTATION, LAST_UPDATE_FINISHED_ANNOTATION } from '../../shadow/names.ts';
import type { Spec } from '../../shadow/model.ts';
import type { Expectations } from '../expectations.ts';
import type { Completion } from '../plan/commands.ts';
import type { SlotLedger } from '../slots/ledger.ts';

/** What actions work with. Reads go to the API server, never to a cache. */
export interface ActionPorts {
  readonly shadows: Pick<Collection<ShadowObject>, 'get' | 'patch' | 'delete'>;
  readonly nodes: Pick<Collection<Node, VersionedPatch>, 'get' | 'patch'>;
  /** Of the operator's own namespace. */
  readonly pods: Pick<Collection<Pod>, 'list'>;
  readonly ledger: SlotLedger;
  readonly expectations: Expectations;
  readonly clock: Clock;
}

/** What came of it: written; nothing to write any more; or the world is not the one that it was decided on. */
export type Outcome = 'done' | 'needless' | 'moved';

export interface SpecWrite {
  readonly shadow: string;
  readonly resourceVersion: string;
  readonly spec: Spec;
  /** Where it completes an update. */
  readonly completes?: Completion;
}

/** Writes a spec on the shadow as it was read. @throws ConflictError, NotFoundError, UnreachableError (it may land yet) */
export async function writeSpec(
  { shadows, expectations, clock }: Pick<ActionPorts, 'shadows' | 'expectations' | 'clock'>,
  { shadow, resourceVersion, spec, completes }: SpecWrite,
  signal: AbortSignal,
): Promise<ShadowObject> {
  const annotations = completes && { annotations: completed(completes, clock.now()) };
  const written = await shadows.patch(shadow, { metadata: { resourceVersion, ...annotations }, spec }, signal);
  expectations.written(shadow, written.metadata.resourceVersion);
  return written;
}

/** What a later plan wants to know of the update: how long it took, where that is known, and when it was over. */
function completed({ beganAt }: Completion, now: number): Readonly<Record<string, string>> {
  const took = beganAt !== undefined && { [LAST_UPDATE_ANNOTATION]: String(Math.round((now - beganAt) / 1000)) };
  return { ...took, [LAST_UPDATE_FINISHED_ANNOTATION]: rfc3339(now) };
}
