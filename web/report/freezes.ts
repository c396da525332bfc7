// Freezes of one run, as the lab found them: the same that `freeze_s` is the sum of.

import { number } from './figures';
import type { Frozen, Series } from './data';

/** Freezes of a flow; null in reports of earlier versions, and of flows without pictures. */
export function frozenOf(series: Series | undefined, flow: string): Frozen | null {
  return series?.freezes?.find((each) => each.of === flow) ?? null;
}

/** With the digits of the tables. */
export function frozenWords({ seconds, cameras }: Frozen): string {
  if (seconds === 0) return 'never froze';
  return `froze for ${number(seconds)} s${cameras.length > 1 ? `, mean of ${cameras.length} cameras` : ''}`;
}

export interface Span {
  /** Seconds since the run began. */
  readonly from: number;
  readonly until: number;
  /** Position among the cameras, from the top. */
  readonly row: number;
}

/** Freezes within a strip that begins and ends then. */
export function spansOf({ cameras }: Frozen, [first, last]: readonly [number, number]): readonly Span[] {
  const all = cameras.flatMap((spans, row) => spans.map(([from, until]) => ({ from: Math.max(from, first), until: Math.min(until, last), row })));
  return all.filter(({ from, until }) => from < until);
}
