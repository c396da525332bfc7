// The layout of `report.json`, which the page is given.

export interface Estimate {
  readonly mean: number;
  readonly ci95: readonly [number | null, number | null];
  readonly n: number;
}

export interface Row extends Estimate {
  readonly system: string;
  readonly metric: string;
  readonly unit: string;
  /** Where the interval of the mean says little: it is as wide as half of the mean on either side. */
  readonly median?: { readonly median: number; readonly ci95: readonly [number | null, number | null] };
}

/** What a row shows: the median where there is one. */
export interface Centred {
  readonly centre: number;
  readonly ci95: readonly [number | null, number | null];
  /** The mean beside a median. */
  readonly mean: number | null;
}

export function centred({ mean, ci95, median }: Row): Centred {
  return median === undefined ? { centre: mean, ci95, mean: null } : { centre: median.median, ci95: median.ci95, mean };
}

export interface Difference extends Row {
  readonly baseline: string;
  readonly verdict: 'better' | 'worse' | 'different' | 'same' | 'unclear';
}

export interface Metric {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower' | 'neither';
  readonly formula: string;
  readonly source: string;
}

export interface Compared {
  readonly system: string;
  readonly metric: string;
  readonly source: string;
  /** `null` for a range or a bound, which `agrees` is then. */
  readonly published: number | null;
  /** `null` at an end that is open. */
  readonly agrees: readonly [number | null, number | null];
  readonly relative_to: string | null;
  /** Where the values are held against another metric; reports of earlier versions do not say. */
  readonly relative_metric?: string | null;
  readonly by?: 'ratio' | 'difference';
  readonly here: number | null;
  readonly ci95: readonly [number | null, number | null];
  readonly verdict: 'agrees' | 'unclear' | 'higher' | 'lower' | 'not measured';
}

/** Runs in which a system was worse than the best single link. */
export interface Worse {
  readonly system: string;
  readonly metric: string;
  readonly worse: number;
  readonly n: number;
}

export interface Check {
  readonly system: string;
  readonly of: string;
  readonly what: string;
  readonly configured: number;
  readonly measured: number;
  readonly ok: boolean;
}

export interface Column {
  readonly name: string;
  readonly of: string;
  readonly unit: string;
  readonly values: readonly (number | null)[];
  /** Of a column of words: the values are positions among these. */
  readonly words?: readonly string[];
}

/** Freezes of a flow: the same that its `freeze_s` is the sum of. */
export interface Frozen {
  readonly of: string;
  readonly seconds: number;
  /** Begin and end of each, by camera, in seconds since the run began. */
  readonly cameras: readonly (readonly (readonly [number, number])[])[];
}

export interface Series {
  readonly t: readonly number[];
  readonly columns: readonly Column[];
  /** Reports of earlier versions have none. */
  readonly freezes?: readonly Frozen[];
}

/** Which of two systems was better, in words: the result first. */
export interface Answer {
  /** The varied values; empty without any. */
  readonly case: string;
  readonly sentences: readonly string[];
}

export interface Cdf {
  readonly system: string;
  readonly of: string;
  readonly quantiles: readonly number[];
}

/** Rates of all runs second by second, from the start of the flows under test on. */
export interface Profile {
  readonly system: string;
  readonly of: string;
  /** Of a flow what it received, of a link what it could carry, Mbit/s. */
  readonly name: 'rate_mbps' | 'capacity_mbps';
  /** When the first second ends. */
  readonly from_s: number;
  /** Seconds from one value to the next; reports of earlier versions have one each second. */
  readonly step_s?: number;
  readonly lower: readonly (number | null)[];
  readonly median: readonly (number | null)[];
  readonly upper: readonly (number | null)[];
}

export interface Flow {
  readonly name: string;
  readonly what: string;
  readonly via: readonly string[];
  readonly start_s: number;
  readonly stop_s: number;
  readonly focus: boolean;
}

export interface Data {
  readonly scenario: {
    readonly name: string;
    readonly title: string;
    readonly about: string;
    readonly file: string;
    readonly text: string;
    readonly duration_s: number;
    readonly measure_from_s: number;
    readonly centre: 'mean' | 'median';
    /** `null`: the best call over one link, by each metric. */
    readonly baseline: string | null;
    /** What the scenario asks for; empty: everything. */
    readonly metrics: readonly string[];
    readonly links: readonly { readonly name: string; readonly forward: string; readonly backward: string }[];
    readonly flows: readonly Flow[];
  };
  readonly engine: string;
  readonly version: string;
  readonly conditions: { readonly command: string; readonly unix_s: number; readonly took_s: number; readonly machine: string };
  /** What is allowed, but perhaps not meant. */
  readonly notes: readonly string[];
  readonly seeds: readonly number[];
  /** Names of the traces that the seeds play in turn; empty without a pattern. */
  readonly traces: readonly string[];
  readonly wanted: number;
  readonly finished: number;
  readonly failed: readonly string[];
  readonly events: number;
  readonly systems: readonly { readonly name: string; readonly system: string; readonly case: readonly (readonly [string, string])[] }[];
  readonly metrics: readonly Metric[];
  /** What people ask first; reports of earlier versions do not say. */
  readonly key_metrics?: readonly string[];
  /** Reports of earlier versions have none. */
  readonly answers?: readonly Answer[];
  readonly results: readonly Row[];
  readonly values: Readonly<Record<string, Readonly<Record<string, readonly (number | null)[]>>>>;
  readonly differences: readonly Difference[];
  readonly published: readonly Compared[];
  readonly worse_than_single: readonly Worse[];
  readonly selfcheck: readonly Check[];
  readonly cdfs: readonly Cdf[];
  /** Reports of earlier versions have none. */
  readonly profiles?: readonly Profile[];
  /** Of seed 1, by system. */
  readonly series: Readonly<Record<string, Series>>;
  /** Of further seeds, then by system; reports of earlier versions have none. */
  readonly more_series?: Readonly<Record<string, Readonly<Record<string, Series>>>>;
  /** Systems that were read from files of real calls. */
  readonly recordings?: readonly Recorded[];
  /** Of two folders that lie over each other. */
  readonly sides?: readonly Side[];
}

/** A system that was read from a file: one call, so it has no seeds and no varied values. */
export interface Recorded {
  readonly name: string;
  readonly format: string;
  readonly about: string;
  readonly seconds: number;
  readonly notes: readonly string[];
  /** Place and reason of an early end of the file. */
  readonly cut: string | null;
}

/** One of two folders of results. */
export interface Side extends Pick<Data, 'version' | 'engine' | 'conditions' | 'seeds'> {
  readonly name: string;
  readonly scenario: Pick<Data['scenario'], 'name' | 'title' | 'duration_s' | 'measure_from_s'>;
}

/** Seeds whose runs can be shown over time. */
export function shownSeeds(data: Data): readonly number[] {
  const more = Object.keys(data.more_series ?? {}).map(Number);
  return [...(Object.keys(data.series).length > 0 ? [1] : []), ...more].sort((a, b) => a - b);
}

/** Data with the series of this seed; recordings are shown with every seed. */
export function withSeed(data: Data, seed: number): Data {
  const recorded = (data.recordings ?? []).flatMap(({ name }) => (data.series[name] === undefined ? [] : [[name, data.series[name]] as const]));
  return seed === 1 ? data : { ...data, series: { ...data.more_series?.[seed], ...Object.fromEntries(recorded) } };
}

/** A metric's name without section, flow and link, and what of these it is of: `loss#2.call` is of `call #2`. */
export function split(metric: string): readonly [string, string | null] {
  const dot = metric.indexOf('.');
  const [name, of] = dot < 0 ? [metric, null] : [metric.slice(0, dot), metric.slice(dot + 1)];
  const mark = name.indexOf('#');
  if (mark < 0) return [name, of];
  const section = name.slice(mark);
  return [name.slice(0, mark), of === null ? section : `${of} ${section}`];
}
