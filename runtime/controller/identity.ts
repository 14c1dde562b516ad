import { randomUUID } from 'node:crypto';
import type { ControllerConfig } from './config.ts';

/** Who a process is on the Lease. */
export interface Identity {
  readonly identity: string;
  /** Whether a holder of the Lease is an earlier process in this one's place, and so surely dead. */
  readonly isPredecessor: (holder: string) => boolean;
}

/** A new one for each start of the process: nobody may take its writes for those of the one before (rule L5). */
export function newIdentity({
  MY_POD_NAME,
  MY_NODE_NAME,
}: Pick<ControllerConfig, 'MY_POD_NAME' | 'MY_NODE_NAME'>): Identity {
  return {
    identity: `${MY_POD_NAME || MY_NODE_NAME}_${randomUUID()}`,
    // A kubelet starts a pod's container anew only after the one before is gone, and no other pod bears this name.
    isPredecessor: (holder) => MY_POD_NAME !== '' && holder.startsWith(`${MY_POD_NAME}_`),
  };
}
