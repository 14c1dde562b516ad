/** Times that are shifted when the wall clock is set. That of the offer is not: it is compared with schedules, and no duration counts from it. */
export const NODE_TIMES = [
  'createdAt',
  'readinessSeenAt',
  'readyChangedAt',
  'readyFrom',
  'outAt',
  'unreadyAt',
] as const;
export const PERMIT_TIMES = ['since', 'rebootAskedAt'] as const;
export const SHADOW_TIMES = [
  'stateSeenAt',
  'stepBeganAt',
  'stalledSince',
  'rebootAskedAt',
  'failedAt',
  'finishedAt',
  'cannotLookSince',
  'upToDateSince',
  'endedAt',
] as const;

/** The view with these of its times moved. */
export function moved<K extends string, T extends { readonly [key in K]?: number | readonly number[] | undefined }>(
  view: T,
  times: readonly K[],
  byMs: number,
): T {
  const later = times.flatMap((time) => {
    const at: number | readonly number[] | undefined = view[time];
    if (at === undefined) return [];
    return [[time, typeof at === 'number' ? at + byMs : at.map((one) => one + byMs)]];
  });
  return { ...view, ...Object.fromEntries(later) };
}
