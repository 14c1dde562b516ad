import { systemClock } from '../../runtime/lib/clock.ts';

/** One request. Resolves with what is wrong with its answer, if anything is; to reject says as much. */
export type Ask = () => Promise<string | undefined>;

export interface Answered {
  readonly asked: number;
  readonly faults: readonly string[];
}

/** Breathing space between the end of a request and the next one like it, milliseconds. */
const PAUSE_MS = 20;

/** Makes each request again and again, all side by side, until it is stopped. */
export function startLoad(asks: readonly Ask[]): { stop(): Promise<Answered> } {
  const over = new AbortController();
  const faults: string[] = [];
  let asked = 0;
  const repeat = async (ask: Ask): Promise<void> => {
    while (!over.signal.aborted) {
      asked += 1;
      const fault = await ask().catch(String);
      if (fault !== undefined) faults.push(fault);
      await systemClock.sleep(PAUSE_MS);
    }
  };
  const repeating = Promise.all(asks.map(repeat));
  return {
    stop: async () => {
      over.abort(new Error('enough'));
      await repeating;
      return { asked, faults };
    },
  };
}
