// Results over varied values, drawn: a line for each system, and heat maps.

import { useMemo, useState } from 'preact/hooks';
import { wordOf, type Factor } from './boxes';
import { split, type Data } from './data';
import { number, scaled, unitOf } from './figures';
import { lookOf, type Palette } from './look';
import { Plot, type Line } from './plot';
import { axesOf, csvOfHeatMaps, heatMapsOf, linesOf, numbersOf, type Fixed, type HeatMap } from './sweep';
import { save } from './take';
import { Choice } from './time';

export function anySweep(data: Data): boolean {
  return axesOf(data).length > 0;
}

export function Sweep({ data, palette }: { data: Data; palette: Palette }) {
  const axes = axesOf(data);
  const names = [...new Set(data.results.map((row) => row.metric))];
  const [metricChosen, setMetric] = useState('');
  const [alongChosen, setAlong] = useState('');
  const [downChosen, setDown] = useState('');
  const [fixedChosen, setFixed] = useState<Fixed>({});
  const metric = names.includes(metricChosen) ? metricChosen : ((data.key_metrics ?? []).find((name) => names.includes(name)) ?? names[0] ?? '');
  const along = axes.find(({ name }) => name === alongChosen) ?? axes[0];
  const others = axes.filter((axis) => axis !== along);
  const down = others.find(({ name }) => name === downChosen) ?? others[0];
  // Two keys may end alike.
  const words = (name: string): string => (axes.filter((each) => wordOf(each.name) === wordOf(name)).length > 1 ? name : wordOf(name));
  const byWord = (word: string): string => axes.find(({ name }) => words(name) === word)?.name ?? '';
  const fixed: Fixed = Object.fromEntries(others.map(({ name, values }) => [name, values.includes(fixedChosen[name] ?? '') ? (fixedChosen[name] ?? '') : (values[0] ?? '')]));
  const about = data.metrics.find((each) => each.name === split(metric)[0]);
  const of = split(metric)[1];
  const title = `${about?.title ?? metric}${of === null ? '' : ` of ${of}`}`;
  const unit = unitOf(split(metric)[0], about?.unit ?? '');
  if (along === undefined) return null;
  return (
    <>
      <div class="controls">
        <Choice label="Metric" options={names} chosen={metric} choose={setMetric} />
        <Choice label="Against" options={axes.map(({ name }) => words(name))} chosen={words(along.name)} choose={(word) => setAlong(byWord(word))} />
        {others.map(({ name, values }) => (
          <Choice key={name} label={`At ${words(name)}`} options={values} chosen={fixed[name] ?? ''} choose={(value) => setFixed({ ...fixedChosen, [name]: value })} />
        ))}
      </div>
      <Lines data={data} metric={metric} axis={along} word={words(along.name)} fixed={fixed} title={title} unit={unit} palette={palette} />
      {down !== undefined && (
        <>
          {others.length > 1 && (
            <div class="controls">
              <Choice label="Heat map with" options={others.map(({ name }) => words(name))} chosen={words(down.name)} choose={(word) => setDown(byWord(word))} />
            </div>
          )}
          <HeatMaps data={data} metric={metric} across={along} down={down} words={words} fixed={fixed} title={title} unit={unit} />
        </>
      )}
    </>
  );
}

interface LinesProps {
  readonly data: Data;
  readonly metric: string;
  readonly axis: Factor;
  readonly word: string;
  readonly fixed: Fixed;
  readonly title: string;
  readonly unit: string;
  readonly palette: Palette;
}

function Lines({ data, metric, axis, word, fixed, title, unit, palette }: LinesProps) {
  const { x, xUnit, xWords, lines } = useMemo(() => {
    const numeric = numbersOf(axis.values);
    const order = axis.values.map((_, place) => place);
    if (numeric !== null) order.sort((a, b) => (numeric.numbers[a] ?? 0) - (numeric.numbers[b] ?? 0));
    const values = order.map((place) => axis.values[place] ?? '');
    const scale = (value: number | null): number | null => (value === null ? null : scaled(split(metric)[0], value));
    const drawn = linesOf(data, metric, axis.name, values, fixed).map((line, place): Line => {
      const [lower, upper] = [line.lower.map(scale), line.upper.map(scale)];
      return { ...lookOf(place), name: line.system, values: line.values.map(scale), ...(lower.some((each) => each !== null) ? { band: { lower, upper } } : {}) };
    });
    return {
      x: numeric === null ? order : order.map((place) => numeric.numbers[place] ?? 0),
      xUnit: numeric?.unit ?? '',
      xWords: numeric === null ? values : undefined,
      lines: drawn,
    };
  }, [data, metric, axis, JSON.stringify(fixed)]);
  return <Plot title={`${title} against ${word}`} unit={unit} x={x} xUnit={xUnit} {...(xWords === undefined ? {} : { xWords })} lines={lines} palette={palette} height={260} marked />;
}

interface HeatMapsProps {
  readonly data: Data;
  readonly metric: string;
  readonly across: Factor;
  readonly down: Factor;
  readonly words: (name: string) => string;
  readonly fixed: Fixed;
  readonly title: string;
  readonly unit: string;
}

function HeatMaps({ data, metric, across, down, words, fixed, title, unit }: HeatMapsProps) {
  const maps = heatMapsOf(data, metric, across, down, fixed);
  const values = maps.flatMap(({ cells }) => cells.flat()).filter((value): value is number => value !== null);
  const ends = [Math.min(...values), Math.max(...values)] as const;
  const csv = (): void => save(`${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}-map.csv`, new Blob([csvOfHeatMaps(maps, across, down, metric)], { type: 'text/csv' }));
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">
          {title}: {words(across.name)} across, {words(down.name)} down <span class="quiet">{unit}</span>
        </span>
      </figcaption>
      <div class="heat-maps">
        {maps.map((map) => (
          <HeatMapView key={map.system} map={map} across={across} down={down} ends={ends} metric={split(metric)[0]} />
        ))}
      </div>
      <ul class="keys">
        <li class="quiet">The darker, the higher; one scale for all systems.</li>
        <li class="take">
          <button type="button" aria-label={`${title} by both fields as CSV`} onClick={csv}>
            CSV
          </button>
        </li>
      </ul>
    </figure>
  );
}

/** Least and most ink of a cell, so that its figure stays readable; chosen by us. */
const [FAINT, STRONG] = [4, 60];

function HeatMapView({ map, across, down, ends: [low, high], metric }: { map: HeatMap; across: Factor; down: Factor; ends: readonly [number, number]; metric: string }) {
  const ink = (value: number): number => (high > low ? FAINT + ((value - low) / (high - low)) * (STRONG - FAINT) : FAINT);
  return (
    <table class="heat-map">
      <caption>{map.system}</caption>
      <thead>
        <tr>
          <td />
          {across.values.map((value) => (
            <th key={value} scope="col">
              {value}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {down.values.map((second, row) => (
          <tr key={second}>
            <th scope="row">{second}</th>
            {across.values.map((first, column) => {
              const value = map.cells[row]?.[column] ?? null;
              return (
                <td key={first} style={value === null ? {} : { background: `color-mix(in srgb, var(--series-1) ${ink(value).toFixed(0)}%, transparent)` }}>
                  {value === null ? '–' : number(scaled(metric, value))}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
