/** Width to height of a tile. */
const ASPECT = 16 / 9;

/** How many columns make `count` tiles largest in a box. */
export function columnsFor(count: number, width: number, height: number, gap: number): number {
  let best = 1;
  let bestWidth = 0;
  for (let columns = 1; columns <= Math.max(1, count); columns += 1) {
    const rows = Math.ceil(count / columns);
    const byWidth = (width - gap * (columns - 1)) / columns;
    const byHeight = ((height - gap * (rows - 1)) / rows) * ASPECT;
    const tile = Math.min(byWidth, byHeight);
    if (tile > bestWidth) {
      best = columns;
      bestWidth = tile;
    }
  }
  return best;
}
