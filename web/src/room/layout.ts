/** Width to height of a tile. */
const ASPECT = 16 / 9;

/** Minimum share of the height for the tiles below a pinned one. */
const STRIP = 0.2;

/** Division of the room's space among the tiles. */
export interface Layout {
  /** `two`: one participant, and ourselves small in a corner; `pinned`: one large tile, the rest below it. */
  readonly kind: 'grid' | 'two' | 'pinned';
  /** Width of a tile, CSS pixels. */
  readonly tile: number;
  /** Width of the pinned tile; 0 where there is none. */
  readonly large: number;
}

export function arrange(others: number, pinned: boolean, width: number, height: number, gap: number): Layout {
  if (pinned) {
    const large = tileWidth(1, width, height * (1 - STRIP) - gap, gap);
    // On a phone held upright the large one is as wide as the screen, and leaves more.
    const below = tileWidth(others, width, height - large / ASPECT - gap, gap);
    return { kind: 'pinned', tile: Math.min(below, whole(large / 2)), large };
  }
  if (others === 1) return { kind: 'two', tile: tileWidth(1, width, height, gap), large: 0 };
  return { kind: 'grid', tile: tileWidth(others + 1, width, height, gap), large: 0 };
}

/** The largest width of a tile such that `count` of them fit into a box. */
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

/** Rounds down to a multiple of 16, whose height is an integer: no gap between picture and tile. */
function whole(width: number): number {
  return Math.floor(width / 16) * 16;
}

/** Participant whose tile the speaker view makes large: the one who speaks, then the one that
 *  was large before; somebody who joins in does not replace a speaker. */
export function speakerOf(before: string | null, speaking: ReadonlySet<string>, present: readonly string[]): string | null {
  const stays = before !== null && present.includes(before);
  if (stays && speaking.has(before)) return before;
  return present.find((id) => speaking.has(id)) ?? (stays ? before : (present[0] ?? null));
}
