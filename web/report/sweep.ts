// Results over varied values: which fields vary, and a metric against the values
// of one of them, or of two.

import { factorsOf, type Factor } from './boxes';
import { centred, type Data, type Row } from './data';
import { cell } from './take';

/** The varied fields with more than one value. Of fields that always change together, the first stands for all. */
export function axesOf(data: Data): readonly Factor[] {
  const places = ({ name, values }: Factor): string =>
    data.systems.map((each) => values.indexOf(each.case.find(([key]) => key === name)?.[1] ?? '')).join();
  const varied = factorsOf(data).filter(({ name }) => name !== 'system');
  return varied.filter((axis, at) => !varied.slice(0, at).some((earlier) => places(earlier) === places(axis)));
}

/** Units of the lab by what they measure, with their size. */
const UNITS: readonly Readonly<Record<string, number>>[] = [
  { ms: 1e-3, s: 1, min: 60 },
  { bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9 },
  { B: 1, kB: 1e3, MB: 1e6 },
];

/** Values as numbers in the unit of the first; `null` if they are words, or of several kinds. */
export function numbersOf(values: readonly string[]): { readonly numbers: readonly number[]; readonly unit: string } | null {
  const parts = values.map((value) => /^(-?\d+(?:\.\d+)?)([a-zA-Z%]*)$/.exec(value));
  const unit = parts[0]?.[2] ?? '';
  const kind = UNITS.find((units) => unit in units) ?? { [unit]: 1 };
  const numbers = parts.map((part) => (part === null ? NaN : (Number(part[1]) * (kind[part[2] ?? ''] ?? NaN)) / (kind[unit] ?? 1)));
  return numbers.some((each) => Number.isNaN(each)) || new Set(numbers).size < numbers.length ? null : { numbers: numbers.map((each) => Number(each.toPrecision(12))), unit };
}

/** Fields that stay at one value. */
export type Fixed = Readonly<Record<string, string>>;

function rowAt(data: Data, metric: string, system: string, wanted: Fixed): Row | undefined {
  const is = Object.entries(wanted);
  const found = data.systems.find((each) => each.system === system && is.every(([key, value]) => each.case.some(([name, own]) => name === key && own === value)));
  return data.results.find((row) => row.metric === metric && row.system === found?.name);
}

/** A metric of one system against the values of a field. */
export interface SweptLine {
  readonly system: string;
  readonly values: readonly (number | null)[];
  /** Ends of the 95 % intervals; `null` where a value has none. */
  readonly lower: readonly (number | null)[];
  readonly upper: readonly (number | null)[];
}

export function systemsOf(data: Data): readonly string[] {
  return [...new Set(data.systems.map((each) => each.system))];
}

/** A line for each system, by the values in this order. */
export function linesOf(data: Data, metric: string, axis: string, values: readonly string[], fixed: Fixed): readonly SweptLine[] {
  return systemsOf(data).map((system) => {
    const rows = values.map((value) => rowAt(data, metric, system, { ...fixed, [axis]: value }));
    const told = rows.map((row) => (row === undefined ? null : centred(row)));
    return {
      system,
      values: told.map((each) => each?.centre ?? null),
      lower: told.map((each) => each?.ci95[0] ?? null),
      upper: told.map((each) => each?.ci95[1] ?? null),
    };
  });
}

/** A metric of one system against the values of two fields, by row and column. */
export interface HeatMap {
  readonly system: string;
  readonly cells: readonly (readonly (number | null)[])[];
}

export function heatMapsOf(data: Data, metric: string, across: Factor, down: Factor, fixed: Fixed): readonly HeatMap[] {
  return systemsOf(data).map((system) => ({
    system,
    cells: down.values.map((second) =>
      across.values.map((first) => {
        const row = rowAt(data, metric, system, { ...fixed, [across.name]: first, [down.name]: second });
        return row === undefined ? null : centred(row).centre;
      }),
    ),
  }));
}

/** A row for each cell. */
export function csvOfHeatMaps(maps: readonly HeatMap[], across: Factor, down: Factor, metric: string): string {
  const head = ['system', across.name, down.name, metric].map(cell).join(',');
  const rows = maps.flatMap(({ system, cells }) => cells.flatMap((row, second) => row.map((value, first) => [cell(system), cell(across.values[first] ?? ''), cell(down.values[second] ?? ''), value ?? ''].join(','))));
  return `${[head, ...rows].join('\n')}\n`;
}
