/** Most characters to change in what was typed. */
const MOST_EDITS = 3;

/** Words that what was typed may be meant for, the most alike first. */
export function nearestTo(typed: string, words: readonly string[]): readonly string[] {
  const limit = Math.min(MOST_EDITS, Math.ceil(typed.length / 2));
  const near = words.map((word) => ({ word, edits: editsBetween(typed, word) })).filter(({ edits }) => edits <= limit);
  return near.toSorted((a, b) => a.edits - b.edits).map(({ word }) => word);
}

/** Characters to add, drop or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1];
    for (let at = 1; at <= to.length; at++) {
      const replaced = (row[at - 1] ?? 0) + Number(from[index] !== to[at - 1]);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
