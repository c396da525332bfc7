/** Width to height of a tile. */
const ASPECT = 16 / 9;

/** The largest width of a tile such that `count` of them fit into a box. */
export function tileWidth(count: number, width: number, height: number, gap: number): number {
  let best = 0;
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const byWidth = (width - gap * (columns - 1)) / columns;
    const byHeight = ((height - gap * (rows - 1)) / rows) * ASPECT;
    best = Math.max(best, Math.min(byWidth, byHeight));
  }
  // A multiple of 16 has a whole height: no line between picture and tile.
  return Math.floor(best / 16) * 16;
}
