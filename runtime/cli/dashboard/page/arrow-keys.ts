/** Moves the focus between tiles with the arrow keys, Home and End. The tiles wrap, so up and down depend on where they lie. */
export function move(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const tiles = [...event.currentTarget.querySelectorAll<HTMLElement>('.tile')];
  const at = tiles.findIndex((tile) => tile === document.activeElement);
  if (at < 0) return;
  const next = tiles[targetOf(event.key, at, tiles) ?? -1];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

function targetOf(key: string, at: number, tiles: readonly HTMLElement[]): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return at + 1;
    case 'ArrowLeft':
      return at - 1;
    case 'Home':
      return 0;
    case 'End':
      return tiles.length - 1;
    case 'ArrowDown':
      return nearest(tiles.slice(at), tiles[at]);
    case 'ArrowUp':
      return nearest(tiles.slice(0, at + 1).toReversed(), tiles[at], -1);
    default:
      return undefined;
  }

  /** The nearest tile in the next line. */
  function nearest(ahead: readonly HTMLElement[], from: HTMLElement | undefined, direction = 1): number | undefined {
    if (!from) return undefined;
    const { top, left } = from.getBoundingClientRect();
    let line: number | undefined;
    let best: { readonly index: number; readonly distance: number } | undefined;
    for (const [index, tile] of ahead.entries()) {
      const box = tile.getBoundingClientRect();
      if (box.top === top) continue;
      line ??= box.top;
      if (box.top !== line) break;
      const distance = Math.abs(box.left - left);
      if (!best || distance < best.distance) best = { index, distance };
    }
    return best && at + best.index * direction;
  }
}
