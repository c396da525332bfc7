// One link of the demo: its plots and its state.

import { useMemo } from 'preact/hooks';
import type { DemoLink, Tick } from '../model/types';
import { mbps, ms, percent } from '../view/format';
import { StateMark } from '../view/parts';
import { runs, type History } from './history';
import { Plot, type Series } from './plot';
import { Strip } from './strip';
import type { Palette } from './theme';
import { titleOf } from './words';

interface LinkPanelProps {
  readonly link: DemoLink;
  readonly history: History;
  readonly palette: Palette;
}

export function LinkPanel({ link, history, palette }: LinkPanelProps) {
  const { name } = link;
  const series = useMemo(() => seriesOf(name), [name]);
  const now = history.at(-1)?.t ?? 0;
  const common = { history, palette };
  return (
    <section class="card link" aria-labelledby={`link-${name}`}>
      <header class="link-head">
        <h2 id={`link-${name}`}>{titleOf(name)}</h2>
        <StateMark state={link.state} />
      </header>
      <Plot {...common} title="Rate" unit="Mbps" series={series.rate} height={132} atLeast={4} />
      <Plot {...common} title="Delay" unit="ms" series={series.rtt} height={76} atLeast={100} />
      <Plot {...common} title="Loss" unit="%" series={series.loss} height={76} atLeast={10} timeAxis />
      <Strip label="state" now={now} runs={runs(history, (tick) => find(tick, name)?.state ?? null)} />
    </section>
  );
}

function find(tick: Tick, name: string): DemoLink | undefined {
  return tick.links.find((link) => link.name === name);
}

function seriesOf(name: string): { rate: Series[]; rtt: Series[]; loss: Series[] } {
  const of =
    (pick: (link: DemoLink) => number | null) =>
    (tick: Tick): number | null => {
      const link = find(tick, name);
      return link === undefined ? null : pick(link);
    };
  return {
    rate: [
      { name: 'capacity', colour: 'plot-capacity', pick: of((link) => (link.up ? link.capacityMbps : 0)), show: mbps, chars: 8, area: true },
      { name: 'sent', colour: 'plot-sent', pick: of((link) => link.sentMbps), show: mbps, chars: 8 },
    ],
    rtt: [
      { name: 'round trip', colour: 'plot-rtt', pick: of((link) => (link.up ? link.rttMs : null)), show: ms, chars: 6 },
      { name: 'queue', colour: 'plot-queue', pick: of((link) => (link.up ? link.queueMs : null)), show: ms, chars: 6, dashed: true },
    ],
    loss: [
      {
        name: 'lost',
        colour: 'plot-loss',
        pick: of((link) => (link.loss === null ? null : link.loss * 100)),
        show: (value) => percent(value === null ? null : value / 100),
        chars: 5,
      },
    ],
  };
}
