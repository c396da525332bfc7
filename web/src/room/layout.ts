/** Width to height of a tile. */
const ASPECT = 16 / 9;

/** Minimum share of the height for the tiles below a pinned one. */
const STRIP = 0.2;

/** Division of the room's area among the tiles. */
export interface Layout {
  /** `two`: one participant, and ourselves small in a corner; `pinned`: one large tile, with the
   *  others below it. */
  readonly kind: 'grid' | 'two' | 'pinned';
  /** Width of a tile in CSS pixels. */
  readonly tile: number;
  /** Width of the pinned tile; 0 if there is none. */
  readonly large: number;
}

export function arrange(others: number, pinned: boolean, width: number, height: number, gap: number): Layout {
  if (pinned) {
    const large = tileWidth(1, width, height * (1 - STRIP) - gap, gap);
    // On an upright phone, the large tile is as wide as the screen and leaves more space.
    const below = tileWidth(others, width, height - large / ASPECT - gap, gap);
    return { kind: 'pinned', tile: Math.min(below, whole(large / 2)), large };
  }
  if (others === 1) return { kind: 'two', tile: tileWidth(1, width, height, gap), large: 0 };
  return { kind: 'grid', tile: tileWidth(others + 1, width, height, gap), large: 0 };
}

/** Returns the maximum width of a tile at which `count` of them fit into a box. */
export function tileWidth(count: number, width: number, height: number, gap: number): number {
  let best = 0;
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const byWidth = (width - gap * (columns - 1)) / columns;
    const byHeight = ((height - gap * (rows - 1)) / rows) * ASPECT;
    best = Math.max(best, Math.min(byWidth, byHeight));
  }
  return whole(best);
}

/** Rounds down to a multiple of 16, for which the height is an integer, so that there is no gap
 *  between picture and tile. */
function whole(width: number): number {
  return Math.floor(width / 16) * 16;
}

/** Returns the participant whose tile is large in the speaker view: the active speaker, otherwise
 *  the previous one. Another person who starts to speak does not replace a speaker. */
export function speakerOf(before: string | null, speaking: ReadonlySet<string>, present: readonly string[]): string | null {
  const stays = before !== null && present.includes(before);
  if (stays && speaking.has(before)) return before;
  return present.find((id) => speaking.has(id)) ?? (stays ? before : (present[0] ?? null));
}
