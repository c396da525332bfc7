// A metric of all systems: the estimate with its interval on one scale, and
// the seeds that it was made of.

import { centred, split, type Metric, type Row } from './data';
import { bounds, number, scaled, unitOf } from './figures';
import { lookOf, type Look } from './look';
import { Figure } from './figure-view';
import { cutOf } from './outliers';

interface ForestProps {
  readonly metric: Metric;
  /** The flow or link that it is about, if it is about one. */
  readonly of: string | null;
  readonly rows: readonly Row[];
  readonly systems: readonly string[];
  /** The value of each seed, by system. */
  readonly values: (system: string) => readonly (number | null)[];
  readonly compared: Compared | null;
}

/** The system that others are compared with, and what it is. */
export interface Compared {
  readonly system: string;
  readonly as: 'baseline' | 'best link';
}

export function Forest({ metric, of, rows, systems, values, compared }: ForestProps) {
  const scale = (value: number): number => scaled(metric.name, value);
  const estimates = rows.flatMap((row) => {
    const { centre, ci95, mean } = centred(row);
    return [centre, ci95[0] ?? centre, ci95[1] ?? centre, ...(mean === null ? [] : [mean])];
  });
  const seeds = rows.flatMap((row) => values(row.system).filter((v) => v !== null));
  const end = Math.max(...estimates, cutOf(seeds)?.top ?? Infinity);
  const beyond = seeds.filter((value) => value > end).length;
  const [low, high] = bounds([...estimates, ...seeds.filter((value) => value <= end)].map(scale));
  const place = (value: number): string => `${((Math.min(Math.max(scale(value), low), high) - low) / (high - low)) * 100}%`;
  const unit = unitOf(metric.name, metric.unit);
  return (
    <section class="card forest" title={metric.formula}>
      <h3>
        {metric.title} {of !== null && <span class="of">{of}</span>} {unit !== '' && <span class="quiet">{unit}</span>}
        {metric.better !== 'neither' && <span class="direction">{metric.better === 'higher' ? 'more is better →' : '← less is better'}</span>}
      </h3>
      <div class="forest-rows">
        {rows.map((row) => (
          <div class="forest-row" key={row.system}>
            <span class="forest-name" title={row.system}>
              {row.system}
              {row.system === compared?.system && <span class="quiet"> {compared.as}</span>}
            </span>
            <Track row={row} look={lookOf(systems.indexOf(row.system))} seeds={values(row.system)} place={place} zero={low < 0 && high > 0 ? place(0) : null} />
            <span class="forest-value">
              <Figure row={row} name={metric.name} />
            </span>
          </div>
        ))}
      </div>
      <div class="forest-axis" aria-hidden="true">
        <span />
        <span class="forest-ends">
          <span>{number(low)}</span>
          <span>
            {beyond > 0 && `${beyond} ${beyond === 1 ? 'seed' : 'seeds'} beyond `}
            {number(high)}
          </span>
        </span>
        <span />
      </div>
    </section>
  );
}

interface TrackProps {
  readonly row: Row;
  readonly look: Look;
  readonly seeds: readonly (number | null)[];
  readonly place: (value: number) => string;
  readonly zero: string | null;
}

function Track({ row, look, seeds, place, zero }: TrackProps) {
  const { centre, ci95: [low, high] } = centred(row);
  return (
    <span class="track" style={{ color: `var(--${look.colour})` }}>
      {zero !== null && <i class="track-zero" style={{ left: zero }} />}
      {seeds.map((value, index) => value !== null && <i key={index} class="track-seed" style={{ left: place(value) }} title={`seed ${index + 1}: ${number(scaled(split(row.metric)[0], value))}`} />)}
      {low !== null && high !== null && <i class="track-interval" style={{ left: place(low), right: `calc(100% - ${place(high)})` }} />}
      <i class={`track-mean mark-${look.mark}`} style={{ left: place(centre) }} />
    </span>
  );
}
