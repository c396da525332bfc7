// A metric under every condition, as boxes over the runs, drawn.

import { useMemo, useRef, useState } from 'preact/hooks';
import { csvOfGrid, factorsOf, gridOf, wordOf, type Box, type Grid, type Panel } from './boxes';
import { split, type Data } from './data';
import { niceStep, number, scaled, unitOf } from './figures';
import { lookOf, type Palette } from './look';
import { Swatch } from './plot';
import { escaped, save } from './take';
import { Choice } from './time';

/** What the studies of sharing draw first. */
const FIRST = ['flow_rate_equality', 'harm'];
/** More panels than this are not looked at one by one. */
const FOLDED = 6;

const [WIDTH, HEIGHT] = [320, 190];
const [LEFT, RIGHT, ABOVE, BELOW] = [40, 6, 22, 24];
/** Widest box. */
const BROAD = 26;

export function anyBoxes(data: Data): boolean {
  return factorsOf(data).length > 0 && data.seeds.length > 1;
}

export function Boxes({ data, palette }: { data: Data; palette: Palette }) {
  const factors = factorsOf(data);
  const names = [...new Set(data.results.map((row) => row.metric))];
  const [chosen, setMetric] = useState(FIRST.find((name) => names.includes(name)) ?? names[0] ?? '');
  const [across, setAcross] = useState(mostValues(factors.filter(({ name }) => name !== 'system')) ?? factors[0]?.name ?? '');
  const [beside, setBeside] = useState(factors.find(({ name }) => name === 'system' && name !== across)?.name ?? factors.find(({ name }) => name !== across)?.name ?? '');
  const metric = names.includes(chosen) ? chosen : (names[0] ?? '');
  const grid = useMemo(() => gridOf(data, metric, across, beside), [data, metric, across, beside]);
  const drawing = useRef<HTMLDivElement>(null);
  const about = data.metrics.find((each) => each.name === split(metric)[0]);
  // Two keys may end alike.
  const words = (name: string): string => (factors.filter((each) => wordOf(each.name) === wordOf(name)).length > 1 ? name : wordOf(name));
  const title = `${about?.title ?? metric}${split(metric)[1] === null ? '' : ` of ${split(metric)[1] ?? ''}`}`;
  const byWord = (word: string): string => factors.find(({ name }) => words(name) === word)?.name ?? '';
  return (
    <>
      <div class="controls">
        <Choice label="Metric" options={names} chosen={metric} choose={setMetric} />
        <Choice label="Across" options={factors.map(({ name }) => words(name))} chosen={words(across)} choose={(word) => setAcross(byWord(word))} />
        <Choice label="Beside each other" options={factors.filter(({ name }) => name !== across).map(({ name }) => words(name))} chosen={words(beside)} choose={(word) => setBeside(byWord(word))} />
      </div>
      {grid === null ? (
        <p class="quiet">No run has a value of this metric.</p>
      ) : (
        <figure class="plot boxes">
          <figcaption>
            <span class="plot-title">
              {title} <span class="quiet">{unitOf(split(metric)[0], about?.unit ?? '')}</span>
            </span>
          </figcaption>
          <div ref={drawing} class={grid.panels.length > FOLDED ? 'panels many' : 'panels'}>
            {grid.panels.map((panel) => (
              <PanelView key={panel.title} panel={panel} grid={grid} metric={split(metric)[0]} />
            ))}
          </div>
          <ul class="keys">
            {grid.beside.name !== '' &&
              grid.beside.values.map((value, place) => (
                <li key={value} class="key">
                  <Swatch look={{ ...lookOf(place), dash: [] }} />
                  {value}
                </li>
              ))}
            <li class="take">
              <button type="button" aria-label={`${title} as SVG`} onClick={() => drawing.current !== null && save(fileName(title, 'svg'), new Blob([drawn(drawing.current, grid, title, palette)], { type: 'image/svg+xml' }))}>
                SVG
              </button>
              <button type="button" aria-label={`${title} as CSV`} onClick={() => save(fileName(title, 'csv'), new Blob([csvOfGrid(grid)], { type: 'text/csv' }))}>
                CSV
              </button>
            </li>
          </ul>
        </figure>
      )}
    </>
  );
}

function mostValues(factors: ReturnType<typeof factorsOf>): string | undefined {
  return [...factors].sort((a, b) => b.values.length - a.values.length)[0]?.name;
}

function fileName(title: string, kind: string): string {
  return `${title.toLowerCase().replace(/[^a-z0-9]+/g, '-')}.${kind}`;
}

function PanelView({ panel, grid, metric }: { panel: Panel; grid: Grid; metric: string }) {
  const [low, high] = grid.range.map((end) => scaled(metric, end)) as [number, number];
  const step = niceStep((high - low || 1) / 4);
  const [bottom, top] = [Math.floor(low / step + 1e-9) * step, Math.max(Math.ceil(high / step - 1e-9) * step, Math.floor(low / step + 1e-9) * step + step)];
  const up = (value: number): number => HEIGHT - BELOW - ((scaled(metric, value) - bottom) / (top - bottom)) * (HEIGHT - ABOVE - BELOW);
  const ticks = Array.from({ length: Math.round((top - bottom) / step) + 1 }, (_, place) => bottom + place * step);
  const room = (WIDTH - LEFT - RIGHT) / grid.across.values.length;
  const each = (room * 0.8) / grid.beside.values.length;
  const raw = (tick: number): number => HEIGHT - BELOW - ((tick - bottom) / (top - bottom)) * (HEIGHT - ABOVE - BELOW);
  const told = panel.boxes.flatMap((row, place) => row.map((box, second) => (box === null ? '' : `${[grid.across.values[place], grid.beside.values[second]].join(' ').trim()}: ${number(scaled(metric, box.median))}`)));
  return (
    <svg class="panel" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${panel.title || 'Medians'}: ${told.filter((words) => words !== '').join('; ')}`}>
      <text x={LEFT} y={14} class="panel-title">
        {panel.title}
      </text>
      {ticks.map((tick) => (
        <g key={tick}>
          <path d={`M${LEFT} ${raw(tick)}H${WIDTH - RIGHT}`} class={Math.abs(tick) < step / 1e3 ? 'panel-zero' : 'panel-line'} />
          <text x={LEFT - 5} y={raw(tick) + 3.5} text-anchor="end" class="panel-tick">
            {number(Number(tick.toPrecision(6)))}
          </text>
        </g>
      ))}
      {panel.boxes.map((row, place) => {
        const middle = LEFT + room * (place + 0.5);
        return (
          <g key={grid.across.values[place]}>
            <text x={middle} y={HEIGHT - 8} text-anchor="middle" class="panel-tick">
              {grid.across.values[place]}
            </text>
            {row.map((box, second) => box !== null && <BoxView key={grid.beside.values[second]} box={box} at={middle + each * (second - (row.length - 1) / 2)} width={Math.min(each * 0.78, BROAD)} colour={lookOf(second).colour} up={up} />)}
          </g>
        );
      })}
    </svg>
  );
}

interface BoxProps {
  readonly box: Box;
  readonly at: number;
  readonly width: number;
  readonly colour: string;
  readonly up: (value: number) => number;
}

function BoxView({ box, at, width, colour, up }: BoxProps) {
  const left = at - width / 2;
  // A box of equal values is still to be seen.
  const height = Math.max(up(box.lower) - up(box.upper), 1.5);
  return (
    <g stroke={`var(--${colour})`} fill={`var(--${colour})`}>
      <path d={`M${at} ${up(box.low)}V${up(box.lower)}M${at} ${up(box.upper)}V${up(box.high)}`} stroke-width="1" />
      <rect x={left} y={up(box.lower) - height} width={width} height={height} fill-opacity="0.25" stroke-width="1" />
      <path d={`M${left} ${up(box.median)}h${width}`} stroke-width="2" />
      {box.beyond.map((value, place) => (
        <circle key={place} cx={at} cy={up(value)} r="1.4" stroke="none" />
      ))}
    </g>
  );
}

const COLUMNS = 3;

/** All panels in one drawing for papers: black on white. */
function drawn(element: HTMLElement, { panels, beside }: Grid, title: string, palette: Palette): string {
  const inks: Readonly<Record<string, string>> = { 'panel-title': 'fill="#000" font-weight="600"', 'panel-tick': 'fill="#333"', 'panel-line': 'stroke="#ddd"', 'panel-zero': 'stroke="#888"' };
  const parts = [...element.querySelectorAll('svg.panel')].map((panel, place) => {
    const [x, y] = [(place % COLUMNS) * (WIDTH + 12), 26 + Math.floor(place / COLUMNS) * (HEIGHT + 8)];
    const inside = panel.innerHTML.replace(/class="([a-z-]+)"/g, (_, name: string) => inks[name] ?? '').replace(/var\(--([a-z0-9-]+)\)/g, (_, name: string) => palette(name));
    return `<g transform="translate(${x} ${y})">${inside}</g>`;
  });
  const rows = Math.ceil(panels.length / COLUMNS);
  const [width, height] = [Math.min(panels.length, COLUMNS) * (WIDTH + 12), 26 + rows * (HEIGHT + 8) + 20];
  const keys = beside.name === '' ? [] : beside.values.map((value, place) => `<text x="${LEFT + (place * (width - LEFT)) / beside.values.length}" y="${height - 6}" fill="${palette(lookOf(place).colour)}">${escaped(value)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="#fff"/><text x="${LEFT}" y="16">${escaped(title)}</text>${parts.join('')}${keys.join('')}</svg>\n`;
}
