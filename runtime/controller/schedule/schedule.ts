import type { WindowState } from '../plan/snapshot.ts';

/** When updates may start. */
export interface Schedule {
  /** @param now milliseconds since the Unix epoch */
  at(now: number): WindowState;
}

/** Asks `schedule` again only once its answer can have changed: a long window takes a while to compute. */
export function cached(schedule: Schedule): Schedule {
  let known: { readonly from: number; readonly state: WindowState } | undefined;
  return {
    at(now) {
      const { changesAt = Infinity } = known?.state ?? {};
      if (!known || now < known.from || now >= changesAt) known = { from: now, state: schedule.at(now) };
      return known.state;
    },
  };
}
