// Numbers as people read them.

/** Shares that are told in percent. */
const PERCENT = new Set(['loss', 'utilisation', 'retransmissions', 'harm', 'fec_overhead', 'fec_utilisation']);

export function unitOf(metric: string, unit: string): string {
  if (PERCENT.has(metric)) return '%';
  return unit === '1' ? '' : unit;
}

/** What is drawn and told for a value: percent for shares. */
export function scaled(metric: string, value: number): number {
  return PERCENT.has(metric) ? value * 100 : value;
}

/** Above this share of the highest value, a scale does not begin at zero; chosen by us. */
const EMPTY = 0.5;

/** Three figures that matter; whole numbers as they are. */
export function number(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value).replace('-', '−');
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
  const text = value.toFixed(digits);
  return (digits > 2 ? String(Number(text)) : text).replace('-', '−');
}

export function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : number(value);
}

/** `[low, high]`, or nothing from a single seed. */
export function interval(metric: string, [low, high]: readonly [number | null, number | null], show: (value: number) => string = number): string {
  return low === null || high === null ? '' : `[${show(scaled(metric, low))}, ${show(scaled(metric, high))}]`;
}

/** A range, or a bound where an end is open. */
export function range(metric: string, [low, high]: readonly [number | null, number | null]): string {
  const end = (value: number): string => number(scaled(metric, value));
  if (low === null) return high === null ? '' : `at most ${end(high)}`;
  return high === null ? `at least ${end(low)}` : `${end(low)} to ${end(high)}`;
}

export function seconds(value: number): string {
  if (value >= 120) return `${Math.floor(value / 60)} min ${value % 60 === 0 ? '' : `${number(value % 60)} s`}`.trim();
  return `${number(value)} s`;
}

/** Least part of the values that a scale spans: what differs by less is not told from each other by eye. Chosen by us. */
const LEAST = 0.1;

/** A scale that holds the values, round at the ends; from zero unless that leaves most of it empty, and not so fine that noise fills it. */
export function bounds(values: readonly number[]): readonly [number, number] {
  const finite = values.filter((value) => Number.isFinite(value));
  if (finite.length === 0) return [0, 1];
  let low = Math.min(...finite);
  let high = Math.max(...finite);
  if (low > 0 && low < EMPTY * high) low = 0;
  if (high < 0 && high > EMPTY * low) high = 0;
  if (!(low < high)) return low > 0 ? [0, high * 2] : [Math.min(low, 0), 1];
  const wider = (LEAST * Math.max(Math.abs(low), Math.abs(high)) - (high - low)) / 2;
  if (wider > 0) [low, high] = [low - wider, high + wider];
  const step = niceStep((high - low) / 4);
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

/** The round number at or above this: 1, 2 or 5 times a power of ten. */
export function niceStep(wanted: number): number {
  const power = 10 ** Math.floor(Math.log10(wanted));
  const found = [1, 2, 2.5, 5, 10].find((each) => each * power >= wanted * (1 - 1e-9)) ?? 10;
  return Number((found * power).toPrecision(6));
}
