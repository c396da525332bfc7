// A metric under every condition, as boxes over the runs: which panels there
// are, what stands in them, and what a box is.

import { cell } from './take';
import type { Data } from './data';

/** Tukey 1977: quartiles, whiskers to the farthest value within one and a half boxes, the others as they are. */
export interface Box {
  readonly low: number;
  readonly lower: number;
  readonly median: number;
  readonly upper: number;
  readonly high: number;
  readonly beyond: readonly number[];
}

const REACH = 1.5;

export function boxOf(values: readonly (number | null)[]): Box | null {
  const sorted = values.filter((value): value is number => value !== null && Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const [lower, median, upper] = [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)];
  const reach = REACH * (upper - lower);
  const near = sorted.filter((value) => value >= lower - reach && value <= upper + reach);
  return { low: near[0] ?? lower, lower, median, upper, high: near.at(-1) ?? upper, beyond: sorted.filter((value) => value < lower - reach || value > upper + reach) };
}

/** Linear between neighbours, as the lab has it. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? 0;
  return below + ((sorted[Math.ceil(at)] ?? below) - below) * (at - Math.floor(at));
}

/** What conditions differ by: a varied key, or the system. */
export interface Factor {
  readonly name: string;
  readonly values: readonly string[];
}

const SYSTEM = 'system';

function valueOf({ system, case: varied }: Data['systems'][number], factor: string): string {
  return factor === SYSTEM ? system : (varied.find(([key]) => key === factor)?.[1] ?? '');
}

/** Those with more than one value: the varied keys in the order of the file, then the systems. */
export function factorsOf(data: Data): readonly Factor[] {
  const names = [...new Set(data.systems.flatMap((each) => each.case.map(([key]) => key))), SYSTEM];
  const factors = names.map((name) => ({ name, values: [...new Set(data.systems.map((each) => valueOf(each, name)))] }));
  return factors.filter(({ values }) => values.length > 1);
}

/** A key of a scenario without what leads to it: `links.line.queue` is the queue. */
export function wordOf(factor: string): string {
  return factor.replace(/^.*\./, '').replaceAll('_', ' ');
}

export interface Panel {
  readonly title: string;
  /** By value across, then by value beside each other. */
  readonly boxes: readonly (readonly (Box | null)[])[];
}

export interface Grid {
  readonly across: Factor;
  readonly beside: Factor;
  readonly panels: readonly Panel[];
  /** Ends of the common axis. */
  readonly range: readonly [number, number];
}

const ONE: Factor = { name: '', values: [''] };

/** The grid of a metric; without conditions to compare there is none. */
export function gridOf(data: Data, metric: string, acrossName: string, besideName: string): Grid | null {
  const factors = factorsOf(data);
  const across = factors.find(({ name }) => name === acrossName);
  if (across === undefined) return null;
  const beside = factors.find(({ name }) => name === besideName && name !== acrossName) ?? ONE;
  const others = factors.filter((each) => each !== across && each !== beside);
  const panels = combinations(others).map((wanted): Panel => {
    const at = (value: string, second: string): Box | null => {
      const all = [...wanted, [across.name, value], [beside.name, second]] as const;
      const found = data.systems.find((system) => all.every(([name, is]) => name === '' || valueOf(system, name ?? '') === is));
      return found === undefined ? null : boxOf(data.values[found.name]?.[metric] ?? []);
    };
    return { title: wanted.map(([name, value]) => `${wordOf(name)} ${value}`).join(', '), boxes: across.values.map((value) => beside.values.map((second) => at(value, second))) };
  });
  const full = panels.filter(({ boxes }) => boxes.flat().some((box) => box !== null));
  const ends = full.flatMap(({ boxes }) => boxes.flat().flatMap((box) => (box === null ? [] : [box.low, box.high, ...box.beyond])));
  return full.length === 0 ? null : { across, beside, panels: full, range: [Math.min(0, ...ends), Math.max(0, ...ends)] };
}

function combinations(factors: readonly Factor[]): readonly (readonly (readonly [string, string])[])[] {
  return factors.reduce<readonly (readonly (readonly [string, string])[])[]>((all, { name, values }) => all.flatMap((before) => values.map((value) => [...before, [name, value] as const])), [[]]);
}

/** A row for each box. */
export function csvOfGrid({ across, beside, panels }: Grid): string {
  const head = ['condition', wordOf(across.name), wordOf(beside.name) || 'of', 'low', 'lower', 'median', 'upper', 'high', 'beyond'];
  const rows = panels.flatMap(({ title, boxes }) =>
    across.values.flatMap((value, row) =>
      beside.values.flatMap((second, column) => {
        const box = boxes[row]?.[column] ?? null;
        return box === null ? [] : [[cell(title), cell(value), cell(second), box.low, box.lower, box.median, box.upper, box.high, box.beyond.join(' ')].join(',')];
      }),
    ),
  );
  return `${[head.map(cell).join(','), ...rows].join('\n')}\n`;
}
