import type { Random } from '../lib/random.ts';

/** An identity that no other will share: 64 random bits in hexadecimal. */
export function randomId(random: Random): string {
  const half = (): string =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0');
  return half() + half();
}
