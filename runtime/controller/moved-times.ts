/** What moves with the wall clock. When an update was offered does not: that is compared with the schedule and with no duration. */
export const NODE_TIMES = ['readinessSeenAt', 'readyChangedAt', 'readyFrom', 'outAt'] as const;
export const SLOT_TIMES = ['since', 'rebootAskedAt'] as const;
export const SHADOW_TIMES = [
  'stateSeenAt',
  'stepBeganAt',
  'rebootAskedAt',
  'failedAt',
  'finishedAt',
  'cannotLookSince',
  'upToDateSince',
  'endedAt',
] as const;

/** The view with these of its times moved. */
export function moved<K extends string, T extends { readonly [key in K]?: number | undefined }>(
  view: T,
  times: readonly K[],
  byMs: number,
): T {
  const later = times.flatMap((time) => (view[time] === undefined ? [] : [[time, view[time] + byMs]]));
  return { ...view, ...Object.fromEntries(later) };
}
