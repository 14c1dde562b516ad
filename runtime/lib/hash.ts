/** FNV-1a, 32 bits, as eight hexadecimal digits. It tells texts apart that nobody made to be alike. @see https://datatracker.ietf.org/doc/draft-eastlake-fnv/ */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
