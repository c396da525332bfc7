// One run over time: a plot for each quantity, all systems in it.

import { useMemo, useState } from 'preact/hooks';
import type { Column, Data, Frozen, Series } from './data';
import { number } from './figures';
import { frozenOf, frozenWords, spansOf } from './freezes';
import { lookOf, type Palette } from './look';
import { Plot, Swatch, type Line } from './plot';
import { onScreen, SCREEN_HZ } from './screen';
import { timesOf, valuesAt } from './times';

/** Quantities in the order of the plots. */
const OF_FLOWS: readonly (readonly [string, string])[] = [
  ['rate_mbps', 'Received rate'],
  ['target_mbps', 'Target rate'],
  ['fps', 'Frames shown'],
  ['e2e_ms', 'Latency, capture to display'],
  ['qp', 'Quantiser'],
  ['psnr_db', 'PSNR'],
  ['owd_ms', 'One-way delay of packets'],
  ['drops', 'Packets lost'],
  ['window', 'TCP window'],
];
/** Quantities of recordings. */
const RECORDED: readonly (readonly [string, string])[] = [
  ['sent_mbps', 'Rate sent'],
  ['fps_received', 'Frames received'],
  ['rtt_ms', 'Round-trip time'],
  ['height_px', 'Picture height'],
];
const OF_LINKS: readonly (readonly [string, string])[] = [
  ['link_mbps', 'Carried by the link'],
  ['queue_ms', 'Waiting time in the queue'],
  ['link_drops', 'Packets dropped by the link'],
  ['rtt_ms', 'Round-trip time over the link'],
];
/** More lines than this tell nobody anything. */
const MOST_SYSTEMS = 8;

export function OverTime({ data, palette }: { data: Data; palette: Palette }) {
  const systems = data.systems.map((each) => each.name).filter((name) => data.series[name] !== undefined);
  const flows = data.scenario.flows;
  const focus = flows.filter((flow) => flow.focus).map((flow) => flow.name);
  const links = data.scenario.links.map((link) => link.name);
  const [shown, setShown] = useState<readonly string[]>(systems.slice(0, MOST_SYSTEMS));
  const [flow, setFlow] = useState(focus[0] ?? flows[0]?.name ?? '');
  const [link, setLink] = useState(links[0] ?? '');
  if (systems.length === 0) return <p class="quiet">No run with seed 1 was finished.</p>;
  const toggle = (name: string): void => setShown(shown.includes(name) ? shown.filter((each) => each !== name) : systems.filter((each) => shown.includes(each) || each === name));
  const panels = { data, shown, palette };
  return (
    <>
      <div class="controls">
        {systems.length > 1 && (
          <div class="chips" role="group" aria-label="Systems shown">
            {systems.map((name) => (
              <button type="button" key={name} aria-pressed={shown.includes(name)} onClick={() => toggle(name)}>
                <Swatch look={lookOf(data.systems.findIndex((each) => each.name === name))} /> {name}
              </button>
            ))}
          </div>
        )}
        <Choice label="Flow" options={flows.map((each) => each.name)} chosen={flow} choose={setFlow} />
        <Choice label="Link" options={links.flatMap((name) => [name, `${name}-back`])} chosen={link} choose={setLink} />
        <p class="quiet hint">Drag to zoom in all plots, double-click to see everything.</p>
      </div>
      <div class="plots">
        {[...OF_FLOWS, ...(data.recordings === undefined ? [] : RECORDED)].map(([name, title]) => (
          <Panel key={name} {...panels} name={name} title={title} of={flow} capacityOf={name === 'rate_mbps' && links.length === 1 ? (links[0] ?? null) : null} />
        ))}
        {OF_LINKS.map(([name, title]) => (
          <Panel key={name} {...panels} name={name} title={`${title} ${links.length > 1 || link.endsWith('-back') ? `(${link})` : ''}`.trim()} of={link} capacityOf={name === 'link_mbps' ? link : null} />
        ))}
      </div>
    </>
  );
}

export function Choice({ label, options, chosen, choose }: { label: string; options: readonly string[]; chosen: string; choose: (name: string) => void }) {
  if (options.length < 2) return null;
  return (
    <label class="choice">
      {label}{' '}
      <select value={chosen} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

interface PanelProps {
  readonly data: Data;
  readonly shown: readonly string[];
  readonly palette: Palette;
  readonly name: string;
  readonly title: string;
  readonly of: string;
  readonly capacityOf: string | null;
}

function Panel({ data, shown, palette, name, title, of, capacityOf }: PanelProps) {
  const { lines, unit, t, frozen, above, highest } = useMemo(() => {
    const found = shown.flatMap((system): readonly { system: string; column: Column; series: Series }[] => {
      const series = data.series[system];
      const column = series?.columns.find((each) => each.name === name && each.of === of);
      return series === undefined || column === undefined ? [] : [{ system, column, series }];
    });
    // All begin together; a recording may last longer than a run, with longer steps.
    const t = timesOf(found.map(({ series }) => series.t));
    const screens = name === 'fps' ? found.map(({ column }) => onScreen(column.values)) : [];
    const drawn: Line[] = found.map(({ system, column, series }, at) => ({
      ...lookOf(data.systems.findIndex((each) => each.name === system)),
      name: system,
      values: valuesAt(t, series.t, name === 'queue_ms' ? whereItCarries(column, series) : (screens[at]?.values ?? column.values)),
    }));
    const frozen = name === 'fps' ? shown.flatMap((system) => ({ name: system, frozen: frozenOf(data.series[system], of) })) : [];
    const capacity = capacityOf === null ? undefined : found[0]?.series.columns.find((each) => each.name === 'capacity_mbps' && each.of === capacityOf);
    const area: Line[] = capacity === undefined ? [] : [{ name: 'capacity', colour: 'plot-capacity-edge', dash: [], mark: 'circle', values: valuesAt(t, found[0]?.series.t ?? [], capacity.values), area: true }];
    return {
      lines: [...area, ...drawn],
      unit: found[0]?.column.unit ?? '',
      t,
      frozen: frozen.flatMap(({ name: system, frozen: each }) => (each === null ? [] : [{ name: system, frozen: each }])),
      above: screens.reduce((sum, each) => sum + each.above, 0),
      highest: Math.max(0, ...screens.map((each) => each.highest)),
    };
  }, [data, shown, name, of, capacityOf]);
  const drawn = lines.filter((line) => line.area !== true);
  const empty = drawn.every((line) => line.values.every((value) => value === null || value === 0));
  if (drawn.length === 0 || (empty && frozen.length === 0)) return null;
  return (
    <Plot title={title} unit={name === 'qp' ? '' : unit === '1' ? 'per sample' : unit} x={t} xUnit="s" lines={lines} palette={palette} group="time">
      {above > 0 && (
        <p class="quiet aside">
          {above} {above === 1 ? 'value' : 'values'} up to {number(highest)} drawn as {SCREEN_HZ}: frames that arrive together after a freeze, of which a screen shows {SCREEN_HZ} a second.
        </p>
      )}
      {frozen.length > 0 && <Freezes x={t} lines={frozen} />}
    </Plot>
  );
}

/** How long a packet waits at a link that carries nothing has no answer. */
function whereItCarries(column: Column, series: Series): readonly (number | null)[] {
  const link = column.of.replace(/-back$/, '');
  const capacity = series.columns.find((each) => each.name === 'capacity_mbps' && each.of === link);
  return capacity === undefined ? column.values : column.values.map((value, at) => (capacity.values[at] === 0 ? null : value));
}

/** The whole run as a strip for each system: when its picture froze. */
function Freezes({ x, lines }: { readonly x: readonly number[]; readonly lines: readonly { readonly name: string; readonly frozen: Frozen }[] }) {
  const [first, last] = [x[0] ?? 0, x.at(-1) ?? 1];
  return (
    <ul class="freezes" aria-label="When the picture froze">
      {lines.map(({ name, frozen }) => (
        <li key={name}>
          <span class="quiet">
            {name}: {frozenWords(frozen)}
          </span>
          <svg viewBox={`0 0 ${last - first || 1} ${frozen.cameras.length || 1}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
            {spansOf(frozen, [first, last]).map(({ from, until, row }) => (
              <rect key={`${row} ${from}`} x={from - first} y={row} width={until - from} height="1" />
            ))}
          </svg>
        </li>
      ))}
    </ul>
  );
}
