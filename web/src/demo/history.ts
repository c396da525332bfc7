// Last minute of the demo: columns for the plots, and runs for the strips.

import type { Tick } from '../model/types';

/** Seconds shown by the plots. */
export const WINDOW_S = 60;

/** Silence between two ticks above which a gap is drawn, s; four ticks arrive per second. */
const GAP_S = 1.5;

/** Period in one state. */
export interface Run<S> {
  readonly from: number;
  readonly to: number;
  readonly state: S;
}

/** Ticks in order of time, at most `WINDOW_S` back. */
export type History = readonly Tick[];

/** Adds a tick; if the time goes back, the demo was restarted, and the history starts again. */
export function extend(history: History, tick: Tick): History {
  const last = history.at(-1);
  if (last !== undefined && tick.t < last.t) return [tick];
  // One sample beyond the window, so that lines reach the left edge.
  const first = history.findIndex((each) => each.t >= tick.t - WINDOW_S);
  return [...history.slice(Math.max(0, first - 1)), tick];
}

/** Times and one column per picker, with an empty row where ticks are missing. */
export function columns(
  history: History,
  pickers: readonly ((tick: Tick) => number | null)[],
): [number[], ...(number | null)[][]] {
  const times: number[] = [];
  const values: (number | null)[][] = pickers.map(() => []);
  let previous: number | null = null;
  for (const tick of history) {
    if (previous !== null && tick.t - previous > GAP_S) {
      times.push((previous + tick.t) / 2);
      for (const column of values) column.push(null);
    }
    times.push(tick.t);
    pickers.forEach((pick, at) => values[at]?.push(pick(tick)));
    previous = tick.t;
  }
  return [times, ...values];
}

/** Combines consecutive ticks of one state into one run; each lasts until the next tick. */
export function runs<S>(history: History, pick: (tick: Tick) => S | null): Run<S>[] {
  const found: { from: number; to: number; state: S }[] = [];
  let open: { from: number; to: number; state: S } | null = null;
  for (const tick of history) {
    const state = pick(tick);
    const joined: boolean = open !== null && tick.t - open.to <= GAP_S;
    if (open !== null && joined) open.to = tick.t;
    if (state === null) {
      open = null;
    } else if (open === null || !joined || open.state !== state) {
      open = { from: tick.t, to: tick.t, state };
      found.push(open);
    }
  }
  return found;
}
