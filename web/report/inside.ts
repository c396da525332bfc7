// What the lab's series have of congestion controllers: which flows and paths
// have one, and which of its quantities belong in one plot.

import type { Column, Series } from './data';

const PREFIX = 'cc_';
const STATE = 'cc_state';

/** A controller of a run: that of a flow, or of one of its paths. */
export interface Controlled {
  readonly flow: string;
  /** What its columns are of: `call`, or `call@wifi`. */
  readonly of: string;
}

export interface InsideGroup {
  readonly unit: string;
  readonly title: string;
  readonly columns: readonly Column[];
}

/** Units in the order of their plots. */
const TITLES: readonly (readonly [string, string])[] = [
  ['ms', 'Delays and thresholds inside'],
  ['Mbit/s', 'Rates inside'],
  ['kB', 'Windows inside'],
  ['1', 'Shares inside'],
];

export function controlled(series: Series, flows: readonly string[]): readonly Controlled[] {
  const states = series.columns.filter((column) => column.name === STATE);
  return flows.flatMap((flow) => states.filter(({ of }) => of === flow || of.startsWith(`${flow}@`)).map(({ of }) => ({ flow, of })));
}

export function stateOf(series: Series, of: string): Column | undefined {
  return series.columns.find((column) => column.name === STATE && column.of === of);
}

/** Quantities of one unit together; unknown units last. */
export function insideOf(series: Series, of: string): readonly InsideGroup[] {
  const all = series.columns.filter((column) => column.of === of && column.name.startsWith(PREFIX) && column.name !== STATE);
  const units = [...new Set([...TITLES.map(([unit]) => unit), ...all.map((column) => column.unit)])];
  return units.flatMap((unit) => {
    const columns = all.filter((column) => column.unit === unit);
    const title = TITLES.find(([known]) => known === unit)?.[1] ?? 'Inside';
    return columns.length === 0 ? [] : [{ unit, title, columns }];
  });
}

/** `cc_queue_target` as people read it. */
export function nameOf(column: Column): string {
  return column.name.slice(PREFIX.length).replaceAll('_', ' ');
}
