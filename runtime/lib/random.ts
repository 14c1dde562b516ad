/** Randomness, as an argument: returns a number in [0, 1). `Math.random` in production, seeded in tests. */
export type Random = () => number;

/** `ms` changed by up to `fraction` of itself in either direction, so that many processes do not act in step. */
export function jitter(ms: number, fraction: number, random: Random): number {
  return ms * (1 + fraction * (2 * random() - 1));
}

/** A unique identity: 64 random bits in hexadecimal. */
export function randomId(random: Random): string {
  const half = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return half() + half();
}
