// Frame rates as a screen shows them.

/** Pictures a second that an ordinary screen shows: those of one refresh replace each other. */
export const SCREEN_HZ = 60;

export interface Shown {
  readonly values: readonly (number | null)[];
  /** Values that were higher. */
  readonly above: number;
  readonly highest: number;
}

/** After a freeze, pictures that have waited arrive together: drawn is what a screen makes of them. */
export function onScreen(values: readonly (number | null)[]): Shown {
  const above = values.filter((value): value is number => value !== null && value > SCREEN_HZ);
  return { values: values.map((value) => (value === null ? null : Math.min(value, SCREEN_HZ))), above: above.length, highest: Math.max(0, ...above) };
}
