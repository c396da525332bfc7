// A few high values must not make everything else a line at the bottom.

interface Rule {
  /** Of all values this share fits into the plot, */
  readonly share: number;
  /** with so much room above them, */
  readonly room: number;
  /** where the highest is so many times what would. */
  readonly worth: number;
}

/** The first that applies. Chosen by us: what a link without capacity holds back is up to a tenth of a plot. */
const CUTS: readonly Rule[] = [
  { share: 0.9, room: 2, worth: 5 },
  { share: 0.95, room: 1.5, worth: 3 },
  { share: 0.99, room: 1.06, worth: 1.4 },
];

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
  if (highest === undefined) return null;
  const tops = CUTS.map(({ share, room, worth }) => [(sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * room, worth] as const);
  const top = tops.find(([value, worth]) => value > 0 && highest > value * worth)?.[0];
  if (top === undefined) return null;
  return { top, hidden: sorted.filter((value) => value > top).length, highest };
}
