import type { Random } from '../../../runtime/lib/random.ts';

function characters(alphabet: string, count: number, random: Random): string {
  return Array.from({ length: count }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
}

/** A version 4 UUID from the injected randomness, so that a seeded run has the same ones again. */
export function uuid(random: Random): string {
  const hex = (count: number): string => characters('0123456789abcdef', count, random);
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${characters('89ab', 1, random)}${hex(3)}-${hex(12)}`;
}

/** The suffix that `generateName` gets: five characters without vowels, as in Kubernetes. */
export function nameSuffix(random: Random): string {
  return characters('bcdfghjklmnpqrstvwxz2456789', 5, random);
}

/** A secret in base64url; `bytes` long before encoding. */
export function secret(bytes: number, random: Random): string {
  return Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256))).toString('base64url');
}
