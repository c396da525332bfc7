// A few high values must not make everything else a line at the bottom.

/** Of all values these fit into the plot; chosen by us. */
const SHARE = 0.99;

/** An axis is cut only where that makes it so much lower; chosen by us. */
const WORTH = 1.5;

export interface Cut {
  /** Where the axis ends. */
  readonly top: number;
  /** Values above it. */
  readonly hidden: number;
  /** The highest of them. */
  readonly highest: number;
}

/** Where to cut an axis of these values; null where all of them fit well. */
export function cutOf(values: readonly (number | null)[]): Cut | null {
  const sorted = values.filter((value): value is number => value !== null && Number.isFinite(value)).sort((a, b) => a - b);
  const highest = sorted.at(-1);
  const edge = sorted[Math.floor((sorted.length - 1) * SHARE)];
  if (highest === undefined || edge === undefined || edge <= 0 || highest <= edge * WORTH) return null;
  return { top: edge * 1.06, hidden: sorted.filter((value) => value > edge * 1.06).length, highest };
}
