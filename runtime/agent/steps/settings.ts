import { HOUR_MS, rfc3339 } from '../../lib/clock.ts';
import type { AgentStatus, UpdateSettings } from '../../api/shadow/model.ts';
import type { View } from '../decide.ts';
import { alreadySaid, withSettings } from '../status.ts';
import type { StepContext } from './context.ts';

/** What is told of the host's settings. People read it, and nothing is decided by it. */
export class SettingsTelling {
  readonly #context: Pick<StepContext, 'host' | 'clock'>;
  #read: UpdateSettings | undefined;
  /** When it was last told where nothing else was, by the monotonic clock. */
  #toldAt = -Infinity;
  /** It is in the report that is being made, where nothing else is new. */
  #isAlone = false;

  constructor(context: Pick<StepContext, 'host' | 'clock'>) {
    this.#context = context;
  }

  /** Asks the host. Without an answer the last one stays. */
  async look(signal: AbortSignal): Promise<void> {
    const { host, clock } = this.#context;
    const answer = await host.updateSettings?.(signal);
    if (answer) this.#read = { ...answer, read_at: rfc3339(clock.now()) };
  }

  /** Told with a status that is written anyway; by itself once an hour, because a cluster may not keep it. A report may ask several times. */
  added(status: AgentStatus, view: View): AgentStatus {
    const more = withSettings(status, this.#read);
    if (more === status || !alreadySaid(status, view)) return more;
    this.#isAlone = this.#context.clock.monotonic() - this.#toldAt >= HOUR_MS;
    return this.#isAlone ? more : status;
  }

  /** The report is accepted. */
  noteTold(): void {
    if (this.#isAlone) this.#toldAt = this.#context.clock.monotonic();
    this.#isAlone = false;
  }
}
