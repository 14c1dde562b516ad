/** Separates the parts of a text that lists many things. Where the text is too long, whole parts can be left out and counted. */
const BETWEEN = '; ';
const LEFT_OUT = /^and (\d+) more$/;

/** One text of many parts, e.g. of pods and what keeps each of them. */
export function joinParts(parts: readonly string[]): string {
  return parts.map((part) => part.replaceAll(BETWEEN, ', ')).join(BETWEEN);
}

/**
 * `text` in at most `maxBytes` of UTF-8. A text that is too long loses its last parts and says how many. Where not even the first part fits,
 * it is cut. The count of a text that was shortened before goes on.
 * @param maxBytes 32 and up
 */
export function shortened(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const parts = text.split(BETWEEN);
  const before = Number(LEFT_OUT.exec(parts.at(-1) ?? '')?.[1] ?? 0);
  if (before > 0) parts.pop();
  const ending = (kept: number): string => `${BETWEEN}and ${parts.length - kept + before} more`;
  const room = maxBytes - Buffer.byteLength(ending(0));
  let kept = 0;
  let bytes = 0;
  for (const part of parts) {
    bytes += Buffer.byteLength(part) + (kept > 0 ? BETWEEN.length : 0);
    if (bytes > room) break;
    kept++;
  }
  return kept > 0 ? parts.slice(0, kept).join(BETWEEN) + ending(kept) : cut(text, maxBytes);
}

const ELLIPSIS = '…';

/** Cuts between characters, never within one. */
function cut(text: string, maxBytes: number): string {
  const room = new Uint8Array(maxBytes - Buffer.byteLength(ELLIPSIS));
  return text.slice(0, new TextEncoder().encodeInto(text, room).read) + ELLIPSIS;
}
