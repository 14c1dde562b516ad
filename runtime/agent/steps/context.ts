import type { Basics } from '../../lib/basics.ts';
import type { Latest } from '../../lib/latest.ts';
import type { RetryingClient } from '../apiserver/retrying-client.ts';
import type { View } from '../decide.ts';
import type { HostUpdater } from '../hosts/port.ts';
import type { HostWork } from './host-work.ts';
import type { Offers } from './offers.ts';

/** Times of the agent, milliseconds. */
export interface AgentTimes {
  /** Between the exclusion from load balancers and the drain; 0 = the node is not excluded. */
  readonly lbWaitMs: number;
  /** Between two looks for updates, before jitter. */
  readonly checkIntervalMs: number;
}

/** What the agent goes by of its Node. */
export interface OwnNode {
  readonly uid: string;
  /** A person keeps it as it is. */
  readonly isHeld: boolean;
  /** Something on it is ours: it is disturbed for an update. */
  readonly isMarked: boolean;
  /** The boot in which that was done; undefined where it is not known. */
  readonly markedIn: string | undefined;
  /** It has the proof of a drain that has not been undone. */
  readonly isDrained: boolean;
}

/** What all steps work with. */
export interface StepContext extends Basics {
  readonly host: HostUpdater;
  readonly hostWork: HostWork;
  readonly apiserver: RetryingClient;
  /** All that is known of node and shadow. It changes while a step runs. */
  readonly view: Latest<View>;
  readonly offers: Offers;
  /** The Node of this agent's name, read live; undefined where there is none. */
  readonly readNode: (signal: AbortSignal) => Promise<OwnNode | undefined>;
  readonly times: AgentTimes;
}
