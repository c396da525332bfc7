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

/** A capacity so many times the highest of what is drawn would press it to the bottom. Chosen by us. */
const FAR = 2;
/** Room above the highest value. */
const ROOM = 1.06;

/** The top of an axis beside a capacity far above the data, by the data alone; null where the capacity fits. */
export function roofOf(data: readonly (number | null)[], capacity: readonly (number | null)[], top: number | null): Cut | null {
  const highestOf = (values: readonly (number | null)[]): number => values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
  const end = top ?? highestOf(data) * ROOM;
  const highest = highestOf(capacity);
  if (end <= 0 || highest <= end * FAR) return null;
  return { top: end, hidden: capacity.filter((value) => value !== null && value > end).length, highest };
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
