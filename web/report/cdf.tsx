// Distribution functions over all seeds.

import { useMemo } from 'preact/hooks';
import uPlot from 'uplot';
import type { Data } from './data';
import { number } from './figures';
import { lookOf, type Palette } from './look';
import { cutOf } from './outliers';
import { onScreen } from './screen';
import { Plot, type Line } from './plot';

const TITLES: Readonly<Record<string, readonly [string, string]>> = {
  rate_mbps: ['Received rate', 'Mbit/s'],
  wait_ms: ['Waiting time in queues', 'ms'],
  owd_ms: ['One-way delay of packets', 'ms'],
  fps: ['Frames shown', '1/s'],
  e2e_ms: ['Latency, capture to display', 'ms'],
};

export function Distributions({ data, palette }: { data: Data; palette: Palette }) {
  const names = [...new Set(data.cdfs.map((each) => each.of))];
  return (
    <div class="plots">
      {names.map((of) => (
        <Distribution key={of} data={data} of={of} palette={palette} />
      ))}
    </div>
  );
}

function Distribution({ data, of, palette }: { data: Data; of: string; palette: Palette }) {
  const [title, unit] = TITLES[of] ?? [of, ''];
  const { x, lines, highest } = useMemo(() => {
    const all = data.cdfs.filter((each) => each.of === of);
    const mine = of === 'fps' ? all.map((each) => ({ ...each, quantiles: onScreen(each.quantiles).values as readonly number[] })) : all;
    const tables = mine.map((each) => [steps(each.quantiles), each.quantiles.map((_, index, all) => (index / (all.length - 1)) * 100)] as unknown as uPlot.AlignedData);
    const joined = tables.length > 1 ? uPlot.join(tables) : (tables[0] ?? [[]]);
    const [values = [], ...shares] = joined as unknown as readonly (readonly (number | null)[])[];
    const drawn: Line[] = mine.map((each, index) => ({ ...lookOf(data.systems.findIndex((system) => system.name === each.system)), name: each.system, values: filled(shares[index] ?? []) }));
    const cut = cutOf(mine.flatMap((each) => each.quantiles));
    const length = cut === null ? values.length : (values as readonly number[]).filter((value) => value <= cut.top).length;
    return { x: (values as readonly number[]).slice(0, length), lines: drawn.map((line) => ({ ...line, values: line.values.slice(0, length) })), highest: cut?.highest ?? null };
  }, [data, of]);
  return <Plot title={title} unit={`at most this, % of the time${highest === null ? '' : `; the rest up to ${number(highest)} ${unit}`}`} x={x} xUnit={unit} lines={lines} palette={palette} top={100} />;
}

/** Equal values are moved apart a little: the axis needs them in order. */
function steps(quantiles: readonly number[]): number[] {
  let last = -Infinity;
  return quantiles.map((value) => {
    const gap = Math.max(Math.abs(last) * 1e-9, 1e-9);
    last = value > last ? value : last + gap;
    return last;
  });
}

/** Between two points of its own a line goes straight; before the first it is none, behind the last all. */
function filled(values: readonly (number | null)[]): (number | null)[] {
  const result = [...values];
  let before = -1;
  values.forEach((value, index) => {
    if (value === null || value === undefined) return;
    if (before >= 0) {
      const from = values[before] ?? 0;
      for (let at = before + 1; at < index; at += 1) result[at] = from + ((value - from) * (at - before)) / (index - before);
    } else {
      result.fill(0, 0, index);
    }
    before = index;
  });
  if (before >= 0) result.fill(100, before + 1);
  return result;
}
