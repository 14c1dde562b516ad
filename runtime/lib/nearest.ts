/** The one of `words` that was most likely meant by `word`: one letter differs, is missing or too many, or two are swapped. */
export function nearest(word: string, words: readonly string[]): string | undefined {
  return word.length < SHORTEST ? undefined : words.find((one) => isNear(word.toLowerCase(), one.toLowerCase()));
}

/** Any two words that are shorter look alike. */
const SHORTEST = 3;

function isNear(word: string, other: string): boolean {
  const shorter = Math.min(word.length, other.length);
  let start = 0;
  while (start < shorter && word[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && word.at(-1 - end) === other.at(-1 - end)) end++;
  const [here, there] = [word.slice(start, word.length - end), other.slice(start, other.length - end)];
  return Math.max(here.length, there.length) < 2 || (here.length === 2 && here === `${there[1]}${there[0]}`);
}
