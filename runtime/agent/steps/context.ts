import type { Clock } from '../../lib/clock.ts';
import type { Latest } from '../../lib/latest.ts';
import type { Logger } from '../../lib/log.ts';
import type { Random } from '../../lib/random.ts';
import type { Conversation } from '../conversation.ts';
import type { View } from '../decide.ts';
import type { HostUpdater } from '../host/port.ts';
import type { HostWork } from './host-work.ts';

/** Times of the agent, milliseconds. */
export interface AgentTimes {
  /** Between the exclusion from load balancers and the drain; 0 = the node is not excluded. */
  readonly lbWaitMs: number;
  /** Between two looks for updates, before jitter. */
  readonly checkIntervalMs: number;
}

/** What all steps work with. */
export interface StepContext {
  readonly host: HostUpdater;
  readonly hostWork: HostWork;
  readonly apiserver: Conversation;
  /** All that is known of node and shadow. It changes while a step runs. */
  readonly view: Latest<View>;
  /** Whether the Node, read live, has the proof of a drain that has not been undone. */
  readonly isDrained: (signal: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly times: AgentTimes;
}
