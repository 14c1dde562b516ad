import type { NodePort } from '../../kube/nodes.ts';
import type { PodPort } from '../../kube/pods.ts';
import type { ShadowObject, ShadowPort } from '../../kube/shadows.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Spec } from '../../shadow/model.ts';
import type { Expectations } from '../expectations.ts';
import type { SlotLedger } from '../slots/ledger.ts';

/** What actions work with. Reads go to the API server, never to a cache. */
export interface ActionPorts {
  readonly shadows: ShadowPort;
  readonly nodes: NodePort;
  readonly pods: PodPort;
  readonly ledger: SlotLedger;
  readonly expectations: Expectations;
  /** The operator's own. */
  readonly namespace: string;
  readonly clock: Clock;
}

export interface SpecWrite {
  readonly shadow: string;
  readonly resourceVersion: string;
  readonly spec: Spec;
}

/** Writes a spec on the shadow as it was read. @throws ConflictError, NotFoundError, UnreachableError (it may land yet) */
export async function writeSpec(
  { shadows, expectations }: Pick<ActionPorts, 'shadows' | 'expectations'>,
  { shadow, resourceVersion, spec }: SpecWrite,
  signal: AbortSignal,
): Promise<ShadowObject> {
  const written = await shadows.patch(shadow, { metadata: { resourceVersion }, spec }, signal);
  expectations.written(shadow, written.metadata.resourceVersion);
  return written;
}
