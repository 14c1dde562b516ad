/** By seed: when each of seven waves begins, as most releases of Bottlerocket have. */
export const SEVEN_WAVES: Readonly<Record<number, string>> = {
  0: '2026-08-25T18:00:00Z',
  20: '2026-08-25T21:00:00Z',
  102: '2026-08-26T17:00:00Z',
  307: '2026-08-27T17:00:00Z',
  819: '2026-08-29T17:00:00Z',
  1228: '2026-08-30T17:00:00Z',
  1843: '2026-08-31T17:00:00Z',
};
