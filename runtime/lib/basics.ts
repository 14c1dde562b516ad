import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';
import type { Random } from './random.ts';

/** What is handed to all that acts: no module has a time, chance or log of its own. */
export interface Basics {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}
