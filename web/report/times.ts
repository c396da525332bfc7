// Series of one plot: those of runs have one step, and that of a long recording is coarser.

/** Rounding of a time, in seconds. */
const ROUNDING = 1e-6;

/** All times of the series, in order. */
export function timesOf(series: readonly (readonly number[])[]): readonly number[] {
  const all = series.flat().sort((a, b) => a - b);
  return all.filter((time, at) => at === 0 || time - (all[at - 1] ?? 0) > ROUNDING);
}

/**
 * The values of a series, each of which holds for the time up to its own, at these times;
 * none after its end.
 */
export function valuesAt(times: readonly number[], own: readonly number[], values: readonly (number | null)[]): readonly (number | null)[] {
  let next = 0;
  return times.map((time) => {
    while (next < own.length && (own[next] ?? 0) < time - ROUNDING) next += 1;
    return values[next] ?? null;
  });
}
