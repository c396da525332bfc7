// One timeline for each flow that a congestion controller governs: its rates,
// delays and losses above what the controller thinks, on one time axis.

import { useMemo, useState } from 'preact/hooks';
import type { Column, Data, Series } from './data';
import { controlled, insideOf, nameOf, stateOf, type Controlled } from './inside';
import { lookOf, type Palette } from './look';
import { Plot, type Line } from './plot';
import { Choice } from './time';

/** Wide enough for the longest word of a state, so that all plots align. */
const AXIS = 86;
const HEIGHT = 140;

/** Quantities of the flow, in one plot each, with the words of their lines. */
const OF_FLOW: readonly (readonly [string, string, readonly (readonly [string, string])[]])[] = [
  [
    'Rate',
    'Mbit/s',
    [
      ['target_mbps', 'target'],
      ['sent_mbps', 'sent'],
      ['rate_mbps', 'received'],
    ],
  ],
  [
    'Delay',
    'ms',
    [
      ['owd_ms', 'one way'],
      ['wait_ms', 'of it in queues'],
      ['rtt_ms', 'round trip'],
    ],
  ],
  ['Packets lost', 'per sample', [['drops', 'lost']]],
];

export function anyInside(data: Data): boolean {
  const flows = data.scenario.flows.map((flow) => flow.name);
  return data.systems.some(({ name }) => {
    const series = data.series[name];
    return series !== undefined && controlled(series, flows).length > 0;
  });
}

export function Inside({ data, palette }: { data: Data; palette: Palette }) {
  const flows = data.scenario.flows.map((flow) => flow.name);
  const having = data.systems.map((each) => each.name).filter((name) => controlled(data.series[name] ?? { t: [], columns: [] }, flows).length > 0);
  const [system, setSystem] = useState(having[0] ?? '');
  const [opened, setOpened] = useState<readonly string[] | null>(null);
  const series = data.series[system];
  if (series === undefined) return null;
  const all = controlled(series, flows);
  const open = opened ?? all.slice(0, 1).map(({ of }) => of);
  const toggle = (of: string, isOpen: boolean): void => setOpened(isOpen ? [...open.filter((each) => each !== of), of] : open.filter((each) => each !== of));
  return (
    <>
      <div class="controls">
        <Choice label="System" options={having} chosen={system} choose={setSystem} />
        <p class="quiet hint">Drag to zoom in all plots, double-click to see everything.</p>
      </div>
      <p class="printed quiet">{system}</p>
      {all.map((each) => (
        <details key={each.of} class="timeline" open={open.includes(each.of)} onToggle={(event) => toggle(each.of, event.currentTarget.open)}>
          <summary>{each.of}</summary>
          {open.includes(each.of) && <Timeline data={data} series={series} each={each} palette={palette} />}
        </details>
      ))}
    </>
  );
}

interface TimelineProps {
  readonly data: Data;
  readonly series: Series;
  readonly each: Controlled;
  readonly palette: Palette;
}

function Timeline({ data, series, each, palette }: TimelineProps) {
  const plots = useMemo(() => {
    const find = (name: string): Column | undefined => series.columns.find((column) => column.name === name && (column.of === each.of || column.of === each.flow));
    const ofFlow = OF_FLOW.map(([title, unit, wanted]) => {
      const lines = wanted.flatMap(([name, words]) => {
        const column = find(name);
        return column === undefined ? [] : [{ name: words, values: column.values }];
      });
      return { title, unit, lines: looked(lines), words: undefined };
    });
    const [only, ...others] = data.scenario.links;
    const capacity = others.length > 0 ? undefined : series.columns.find((column) => column.name === 'capacity_mbps' && column.of === only?.name);
    if (capacity !== undefined) {
      const area: Line = { name: 'capacity', colour: 'plot-capacity-edge', dash: [], mark: 'circle', values: capacity.values, area: true };
      ofFlow[0]?.lines.unshift(area);
    }
    const state = stateOf(series, each.of);
    const states = state === undefined ? [] : [{ title: 'State', unit: '', lines: looked([{ name: 'state', values: state.values }]), words: state.words ?? [] }];
    const inside = insideOf(series, each.of).map(({ title, unit, columns }) => ({
      title,
      unit: unit === '1' ? '' : unit,
      lines: looked(columns.map((column) => ({ name: nameOf(column), values: column.values }))),
      words: undefined,
    }));
    return [...ofFlow, ...states, ...inside].filter(({ lines }) => lines.some((line) => line.area !== true && line.values.some((value) => value !== null)));
  }, [data, series, each.of]);
  return (
    <div class="stack">
      {plots.map(({ title, unit, lines, words }) => (
        <Plot key={title} title={title} unit={unit} x={series.t} xUnit="s" lines={lines} palette={palette} group="inside" height={words === undefined ? HEIGHT : 46 + 20 * words.length} axis={AXIS} {...(words === undefined ? {} : { words })} />
      ))}
    </div>
  );
}

function looked(lines: readonly Pick<Line, 'name' | 'values'>[]): Line[] {
  return lines.map((line, index) => ({ ...lookOf(index), ...line }));
}
