/** Ends of a value axis, per power of ten; each has a readable half. */
const TOPS = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10];

/** Returns the smallest round number that is at least both. */
export function niceTop(max: number, atLeast: number): number {
  const wanted = Math.max(max, atLeast);
  if (!(wanted > 0) || !Number.isFinite(wanted)) return 1;
  const power = 10 ** Math.floor(Math.log10(wanted));
  // The rounding hides errors such as 0.1 + 0.2 in the labels.
  for (const top of TOPS) if (top * power >= wanted * (1 - 1e-9)) return Number((top * power).toPrecision(3));
  return 10 * power;
}
