// One uPlot chart with a legend of our own that tells the values under the
// pointer. Dragging zooms all plots of a group, a double click shows all again.

import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { number } from './figures';
import type { Look, Palette } from './look';
import { cutOf, roofOf } from './outliers';
import { csvOf, pngOf, save, svgOf } from './take';

export interface Line extends Look {
  readonly name: string;
  readonly values: readonly (number | null)[];
  /** A filled step behind the lines: what could be. */
  readonly area?: boolean;
  /** Values on either side of the line, filled between. */
  readonly band?: Band;
}

export interface Band {
  readonly lower: readonly (number | null)[];
  readonly upper: readonly (number | null)[];
}

/** Its colour, from that of the line: of what the style sheet has, #rrggbb. */
const BAND_ALPHA = '30';

interface PlotProps {
  readonly title: string;
  readonly unit: string;
  readonly x: readonly number[];
  readonly xUnit: string;
  readonly lines: readonly Line[];
  readonly palette: Palette;
  /** Plots of one group share pointer and zoom. */
  readonly group?: string;
  readonly height?: number;
  readonly top?: number;
  /** Room for the figures on the left; the same aligns plots. */
  readonly axis?: number;
  /** Values are positions among these words. */
  readonly words?: readonly string[];
  /** Places of the axis across are positions among these words. */
  readonly xWords?: readonly string[];
  /** Each value has a mark. */
  readonly marked?: boolean;
  /** What stands under the plot, in its frame. */
  readonly children?: ComponentChildren;
}

export function Plot(props: PlotProps) {
  const { title, unit, x, xUnit, lines, palette, group, height = 190, top, axis, words, xWords, children } = props;
  const told = (value: number | null): string => (words === undefined ? number(value) : (words[value ?? -1] ?? '–'));
  const box = useRef<HTMLDivElement>(null);
  const [under, setUnder] = useState<number | null>(null);
  const [whole, setWhole] = useState(false);
  const { cut, roof } = useMemo(() => {
    if (top !== undefined || words !== undefined || unit === 'dB') return { cut: null, roof: null };
    const drawn = lines.filter((line) => line.area !== true);
    const found = cutOf(drawn.flatMap((line) => line.values));
    const data = drawn.flatMap(({ values, band }) => [...values, ...(band?.upper ?? [])]);
    const capacity = lines.filter((line) => line.area === true).flatMap((line) => line.values);
    return { cut: found, roof: roofOf(data, capacity, found?.top ?? null) };
  }, [lines, top, words, unit]);
  const hidden = [...(cut === null ? [] : [`${cut.hidden} higher, up to ${number(cut.highest)}`]), ...(roof === null ? [] : [`capacity up to ${number(roof.highest)}`])];
  const end = whole ? top : (roof?.top ?? cut?.top ?? top);
  // Not after the next picture: paper takes what is there when printing begins.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const data = [x, ...lines.map((line) => line.values), ...edges(lines)] as unknown as uPlot.AlignedData;
    const made = new uPlot(options({ ...props, ...(end === undefined ? {} : { top: end }) }, element.clientWidth, setUnder), data, element);
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) made.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
    };
  }, [x, lines, palette, height, group, end, axis, words]);
  const at = under === null ? undefined : x[under];
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">
          {title} <span class="quiet">{unit}</span>
        </span>
        {hidden.length > 0 && (
          <button type="button" class="cut quiet" aria-pressed={whole} onClick={() => setWhole(!whole)}>
            {whole ? 'cut the highest off' : hidden.join('; ')}
          </button>
        )}
        <span class="plot-at quiet">{at === undefined ? '' : (xWords?.[at] ?? `${number(at)} ${xUnit}`)}</span>
      </figcaption>
      <div ref={box} style={{ height: `${height}px` }} role="img" aria-label={`${title} in ${unit}: ${lines.map((line) => line.name).join(', ')}`} />
      {children}
      <ul class="keys">
        {lines.map((line) => (
          <li key={line.name} class="key">
            <Swatch look={line} area={line.area === true} />
            {line.name}
            <strong>{under === null ? '' : told(line.values[under] ?? null)}</strong>
          </li>
        ))}
        {words === undefined && <Take of={props} box={box} top={end} />}
      </ul>
    </figure>
  );
}

/** Values and drawing of a plot, for elsewhere. */
function Take({ of: { title, unit, x, xUnit, lines, palette }, box, top }: { of: PlotProps; box: RefObject<HTMLDivElement | null>; top: number | undefined }) {
  const take = async (kind: 'svg' | 'png' | 'csv'): Promise<void> => {
    const highest = Math.max(0, ...[...lines.map((line) => line.values), ...edges(lines)].flat().filter((value): value is number => value !== null));
    const taken = { title, unit, x, xUnit, top: top ?? highest * 1.06, lines: lines.map((line) => ({ ...line, colour: palette(line.colour) })) };
    const canvas = box.current?.querySelector('canvas');
    const png = kind === 'png' && canvas ? await pngOf(canvas, getComputedStyle(document.body).backgroundColor) : null;
    const blob = kind === 'csv' ? new Blob([csvOf(taken)], { type: 'text/csv' }) : kind === 'svg' ? new Blob([svgOf(taken)], { type: 'image/svg+xml' }) : png;
    if (blob !== null) save(`${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.${kind}`, blob);
  };
  return (
    <li class="take">
      {(['svg', 'png', 'csv'] as const).map((kind) => (
        <button key={kind} type="button" aria-label={`${title} as ${kind.toUpperCase()}`} onClick={() => void take(kind)}>
          {kind.toUpperCase()}
        </button>
      ))}
    </li>
  );
}

export function Swatch({ look, area = false }: { look: Look; area?: boolean }) {
  return (
    <svg class="swatch" viewBox="0 0 22 8" aria-hidden="true" style={{ color: `var(--${look.colour})` }}>
      {area ? <rect x="0.5" y="0.5" width="21" height="7" rx="2" /> : <path d="M0 4h22" stroke-dasharray={look.dash.join(' ')} />}
    </svg>
  );
}

function options({ unit, x, xUnit, lines, palette, group, height = 190, top, axis: room = 46, words, xWords, marked = false }: PlotProps, width: number, onPointer: (index: number | null) => void): uPlot.Options {
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = {
    stroke: palette('muted'),
    font,
    ticks: { show: false },
    border: { show: false },
    grid: { stroke: palette('line'), width: 1 },
  };
  const first = x[0] ?? 0;
  const last = x.at(-1) ?? 1;
  return {
    width: Math.max(width, 120),
    height,
    // Half of the last label of the axis stands beyond it.
    padding: [8, 18 + 3 * xUnit.length, 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, uni: 10 },
      points: { size: 6 },
      ...(group === undefined ? {} : { sync: { key: group, scales: ['x', null] } }),
    },
    scales: {
      x: { time: false, ...(first < last ? {} : { range: [first - 1, last + 1] as [number, number] }) },
      y: words !== undefined ? { range: [-0.5, words.length - 0.5] } : { range: (_, low, high) => [unit === 'dB' ? Math.floor((low ?? 0) * 0.95) : Math.min(0, low ?? 0), top ?? ((high ?? 0) > 0 ? (high ?? 1) * 1.06 : 1)] },
    },
    axes: [
      xWords !== undefined
        ? { ...axis, size: 24, gap: 4, grid: { show: false }, splits: [...x], values: () => [...xWords] }
        : { ...axis, size: 24, gap: 4, grid: { show: false }, values: (_, splits) => splits.map((each, index) => (index === splits.length - 1 ? `${number(each)} ${xUnit}` : number(each))) },
      words !== undefined
        ? { ...axis, size: room, gap: 6, splits: words.map((_, at) => at), values: () => [...words] }
        : { ...axis, size: room, gap: 6, space: 34, values: (_, splits) => splits.map((each) => String(Number(each.toPrecision(6))).replace('-', '−')) },
    ],
    series: [{}, ...lines.map((line) => seriesOptions(line, palette, words !== undefined, marked)), ...edges(lines).map(() => ({ width: 0, points: { show: false } }))],
    bands: lines
      .filter((line) => line.band !== undefined)
      .map((line, place) => ({ series: [lines.length + 2 + 2 * place, lines.length + 1 + 2 * place] as [number, number], fill: `${palette(line.colour)}${BAND_ALPHA}` })),
    hooks: { setCursor: [(plot) => onPointer(plot.cursor.idx ?? null)] },
  };
}

/** The lower and the upper edge of each band. */
function edges(lines: readonly Line[]): readonly (readonly (number | null)[])[] {
  return lines.flatMap(({ band }) => (band === undefined ? [] : [band.lower, band.upper]));
}

function seriesOptions(line: Line, palette: Palette, stepped: boolean, marked: boolean): uPlot.Series {
  const colour = palette(line.colour);
  const paths = line.area === true || stepped ? uPlot.paths.stepped?.({ align: -1 }) : undefined;
  return {
    stroke: colour,
    width: line.area === true ? 1 : 1.6,
    dash: [...line.dash],
    points: marked ? { show: true, size: 5, fill: colour } : { show: false },
    ...(line.area === true ? { fill: palette('plot-capacity'), dash: [] } : {}),
    ...(paths === undefined ? {} : { paths }),
  };
}
