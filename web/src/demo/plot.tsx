// uPlot chart of the last minute, with a custom legend of the latest values, or of those
// under the pointer.

import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { columns, WINDOW_S, type History } from './history';
import { niceTop } from './scale';
import type { Palette } from './theme';
import type { Tick } from '../model/types';

/** Width of the value axis and right margin in CSS pixels; the same as for the strips under the
 *  plots. */
const AXIS_PX = 44;
const RIGHT_PX = 16;

export interface Series {
  readonly name: string;
  /** Name of a colour in the style sheet. */
  readonly colour: string;
  readonly pick: (tick: Tick) => number | null;
  readonly show: (value: number | null) => string;
  /** Width of the value in the legend in characters, so that it does not jump. */
  readonly chars: number;
  /** Filled step behind the lines: the available rate. Its edge has the colour `…-edge`. */
  readonly area?: boolean;
  readonly dashed?: boolean;
}

interface PlotProps {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
  readonly history: History;
  readonly palette: Palette;
  readonly height: number;
  /** Minimum end of the scale. */
  readonly atLeast: number;
  readonly timeAxis?: boolean;
}

export function Plot(props: PlotProps) {
  const { title, unit, series, history, palette, height } = props;
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(history);
  latest.current = history;
  const [under, setUnder] = useState<number | null>(null);

  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const made = new uPlot(options(props, element.clientWidth, () => latest.current, setUnder), dataOf(props), element);
    chart.current = made;
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
    // The series of a plot never change.
  }, [palette, height]);

  useEffect(() => chart.current?.setData(dataOf(props) as uPlot.AlignedData), [history]);

  const moment = under === null ? history.at(-1) : nearest(history, under);
  const told = series.map((each) => ({ ...each, value: each.show(moment === undefined ? null : each.pick(moment)) }));
  return (
    <figure class="plot">
      <figcaption class="plot-head">
        <span class="plot-title">
          {title} <span class="quiet">{unit}</span>
        </span>
        {told.map((each) => (
          <span key={each.name} class="key">
            <svg viewBox="0 0 16 8" aria-hidden="true" focusable="false" style={{ color: `var(--${each.colour})` }}>
              {each.area === true ? <rect x="0.5" y="0.5" width="15" height="7" rx="2" style={{ stroke: `var(--${each.colour}-edge)` }} /> : <path class={each.dashed ? 'dashed' : ''} d="M0 4h16" />}
            </svg>
            {each.name} <strong style={{ minWidth: `${each.chars}ch` }}>{each.value}</strong>
          </span>
        ))}
      </figcaption>
      <div ref={box} class="plot-box" style={{ height: `${height}px` }} role="img" aria-label={`${title}, the last minute`} />
    </figure>
  );
}

function dataOf({ history, series }: PlotProps): uPlot.AlignedData {
  return columns(
    history,
    series.map((each) => each.pick),
  ) as uPlot.AlignedData;
}

function nearest(history: History, t: number): Tick | undefined {
  return history.reduce<Tick | undefined>(
    (best, tick) => (best === undefined || Math.abs(tick.t - t) < Math.abs(best.t - t) ? tick : best),
    undefined,
  );
}

function options(
  { series, palette, height, atLeast, timeAxis = false }: PlotProps,
  width: number,
  history: () => History,
  onPointer: (t: number | null) => void,
): uPlot.Options {
  const now = (): number => history().at(-1)?.t ?? 0;
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: palette('muted'), font, ticks: { show: false }, border: { show: false } };
  const grid = { stroke: palette('line'), width: 1 };
  return {
    width: Math.max(width, 100),
    height,
    padding: [6, RIGHT_PX, timeAxis ? 0 : 4, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 }, sync: { key: 'demo', scales: ['x', null] } },
    scales: {
      x: { time: false, range: () => [now() - WINDOW_S, now()] },
      y: { range: (_, __, max) => [0, niceTop(max ?? 0, atLeast)] },
    },
    axes: [
      {
        ...axis,
        show: timeAxis,
        size: 20,
        gap: 4,
        grid: { show: false },
        splits: () => [-60, -45, -30, -15, 0].map((back) => now() + back),
        values: (_, splits) => splits.map((at) => (at === now() ? 'now' : `−${Math.round(now() - at)} s`)),
      },
      { ...axis, size: AXIS_PX, gap: 6, grid, splits: (_, __, ___, top) => [0, top / 2, top] },
    ],
    series: [{}, ...series.map((each) => seriesOptions(each, palette))],
    hooks: {
      setCursor: [
        (plot) => {
          const left = plot.cursor.left ?? -1;
          onPointer(left < 0 ? null : plot.posToVal(left, 'x'));
        },
      ],
    },
  };
}

function seriesOptions(series: Series, palette: Palette): uPlot.Series {
  const colour = palette(series.colour);
  return {
    stroke: series.area ? palette(`${series.colour}-edge`) : colour,
    width: series.area ? 1 : 2,
    points: { show: false },
    ...(series.area ? { fill: colour, paths: stepped() } : {}),
    ...(series.dashed ? { dash: [5, 4] } : {}),
  };
}

function stepped(): uPlot.Series.PathBuilder {
  const make = uPlot.paths.stepped;
  if (make === undefined) throw new Error('this build of uPlot has no stepped paths');
  return make({ align: 1 });
}
