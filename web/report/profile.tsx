// Rates of all runs second by second, from the start of the flows under test on:
// the median, the quartiles around it, and what the link could carry behind.

import { useMemo, useState } from 'preact/hooks';
import type { Data, Profile } from './data';
import { lookOf, type Palette } from './look';
import { Plot, type Line } from './plot';
import { Choice } from './time';

export function Profiles({ data, palette }: { data: Data; palette: Palette }) {
  const all = data.profiles ?? [];
  const flows = [...new Set(all.filter((each) => each.name === 'rate_mbps').map((each) => each.of))];
  const [chosen, choose] = useState('');
  const flow = flows.includes(chosen) ? chosen : (data.scenario.flows.find((each) => each.focus && flows.includes(each.name))?.name ?? flows[0] ?? '');
  const { x, lines } = useMemo(() => profileOf(data, flow), [data, flow]);
  return (
    <>
      <div class="controls">
        <Choice label="Flow" options={flows} chosen={flow} choose={choose} />
        <p class="quiet hint">Drag to zoom, double-click to see everything.</p>
      </div>
      <Plot title={`Rate of ${flow}`} unit="Mbit/s" x={x} xUnit="s" lines={lines} palette={palette} height={260} />
    </>
  );
}

/** The lines of a flow on one axis of time. */
export function profileOf(data: Data, flow: string): { x: readonly number[]; lines: readonly Line[] } {
  const all = data.profiles ?? [];
  const rates = all.filter((each) => each.name === 'rate_mbps' && each.of === flow);
  const [only, ...others] = data.scenario.links;
  const behind = others.length > 0 ? undefined : all.find((each) => each.name === 'capacity_mbps' && each.of === only?.name);
  const shown = behind === undefined ? rates : [behind, ...rates];
  const first = Math.min(...shown.map((each) => each.from_s));
  const step = shown[0]?.step_s ?? 1;
  const last = Math.max(...shown.map((each) => each.from_s + (each.median.length - 1) * step));
  const x = shown.length === 0 ? [] : Array.from({ length: (last - first) / step + 1 }, (_, place) => first + place * step);
  const on = (profile: Profile, values: readonly (number | null)[]): readonly (number | null)[] => x.map((second) => values[(second - profile.from_s) / step] ?? null);
  const lines: Line[] = rates.map((each) => ({
    ...lookOf(data.systems.findIndex((system) => system.name === each.system)),
    name: each.system,
    values: on(each, each.median),
    ...(data.seeds.length > 1 ? { band: { lower: on(each, each.lower), upper: on(each, each.upper) } } : {}),
  }));
  if (behind !== undefined) lines.unshift({ name: 'capacity', colour: 'plot-capacity-edge', dash: [], mark: 'circle', values: on(behind, behind.median), area: true });
  return { x, lines };
}
