// Tables: differences, what was published, the self-check, and all figures.

import { split, type Compared, type Data, type Difference } from './data';
import { Figure } from './figure-view';
import { bounds, interval, number, range, scaled, signed, unitOf } from './figures';

const VERDICTS: Readonly<Record<string, readonly [string, string]>> = {
  better: ['▲', 'good'],
  worse: ['▼', 'bad'],
  different: ['◆', 'warn'],
  same: ['=', 'plain'],
  unclear: ['○', 'plain'],
  agrees: ['✓', 'good'],
  higher: ['↑', 'bad'],
  lower: ['↓', 'bad'],
  'not measured': ['–', 'plain'],
};

export function Verdict({ verdict }: { verdict: string }) {
  const [sign, tone] = VERDICTS[verdict] ?? ['', 'plain'];
  return (
    <span class={`verdict tone-${tone}`}>
      <span aria-hidden="true">{sign}</span> {verdict}
    </span>
  );
}

/** A row for each of these metrics, a column for each system that is not the baseline. */
export function Differences({ data, names }: { data: Data; names: readonly string[] }) {
  const mine = data.differences.filter((each) => names.includes(each.metric));
  const systems = [...new Set(mine.map((each) => each.system))];
  const baselines = new Set(mine.map((each) => each.baseline));
  const metrics = names.flatMap((name) => {
    const metric = data.metrics.find((each) => each.name === split(name)[0]);
    return metric === undefined ? [] : [{ ...metric, name, of: split(name)[1] }];
  });
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>{baselines.size === 1 ? `Minus ${[...baselines][0] ?? ''}` : 'Change'}</th>
            {systems.map((system) => (
              <th key={system} class="figure">
                {system}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <tr key={metric.name}>
              <th scope="row" title={metric.formula}>
                {metric.title} {metric.of !== null && <span class="of">{metric.of}</span>} <span class="quiet">{unitOf(split(metric.name)[0], metric.unit)}</span>
                {baselines.size > 1 && data.sides === undefined && <span class="quiet small-line">to {mine.find((each) => each.metric === metric.name)?.baseline}</span>}
              </th>
              {systems.map((system) => (
                <Cell key={system} found={mine.find((each) => each.system === system && each.metric === metric.name)} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ found }: { found: Difference | undefined }) {
  if (found === undefined) return <td class="figure quiet">–</td>;
  return (
    <td class="figure">
      <strong>{signed(scaled(split(found.metric)[0], found.mean))}</strong> <span class="quiet">{interval(split(found.metric)[0], found.ci95, signed)}</span> <Verdict verdict={found.verdict} />
    </td>
  );
}

/** In how many runs each system was worse than the best single link. */
export function WorseThanSingle({ data, names }: { data: Data; names: readonly string[] }) {
  const all = data.worse_than_single.filter((each) => names.includes(each.metric));
  const systems = [...new Set(all.map((each) => each.system))];
  const metrics = data.metrics.filter((metric) => names.includes(metric.name));
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Runs worse than the best single link</th>
            {systems.map((system) => (
              <th key={system} class="figure">
                {system}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <tr key={metric.name}>
              <th scope="row" title={metric.formula}>
                {metric.title}
              </th>
              {systems.map((system) => {
                const found = all.find((each) => each.system === system && each.metric === metric.name);
                if (found === undefined) {
                  return (
                    <td key={system} class="figure quiet">
                      –
                    </td>
                  );
                }
                return (
                  <td key={system} class="figure">
                    {found.worse === 0 ? <span class="quiet">none</span> : <strong>{found.worse}</strong>} <span class="quiet">of {found.n}</span>
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function Published({ data }: { data: Data }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>System</th>
            <th>Metric</th>
            <th class="figure">Published</th>
            <th class="figure">Here</th>
            <th class="wide">
              <span class="hidden-visually">On one scale</span>
            </th>
            <th>Verdict</th>
            <th>Source</th>
          </tr>
        </thead>
        <tbody>
          {data.published.map((each, index) => (
            <PublishedRow key={index} data={data} each={each} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PublishedRow({ data, each }: { data: Data; each: Compared }) {
  const [base, of] = split(each.metric);
  const metric = data.metrics.find((known) => known.name === base);
  const other = [each.relative_metric, each.relative_to === null ? null : `of ${each.relative_to}`].filter((words) => words != null).join(' ').replace(/^of /, '');
  const ratio = other !== '' && each.by !== 'difference';
  const name = ratio ? '' : base;
  const own = unitOf(base, metric?.unit ?? '1');
  const unit = ratio ? `× ${other}` : other === '' ? own : `${own} more than ${other}`.trim();
  const [from, to] = each.agrees;
  const ends = [from ?? 0, to ?? 0, each.here ?? 0, each.ci95[0] ?? 0, each.ci95[1] ?? 0];
  const [low, high] = bounds(ends.map((value) => scaled(name, value)));
  const place = (value: number): string => `${((scaled(name, value) - low) / (high - low)) * 100}%`;
  return (
    <tr>
      <th scope="row">{each.system}</th>
      <td>
        {metric?.title ?? base} {of !== null && <span class="quiet">{of}</span>} <span class="quiet">{unit}</span>
      </td>
      <td class="figure">{each.published === null ? range(name, each.agrees) : number(scaled(name, each.published))}</td>
      <td class="figure">
        {each.here === null ? '–' : number(scaled(name, each.here))} <span class="quiet">{interval(name, each.ci95)}</span>
      </td>
      <td class="wide">
        <span class="track track-published">
          <i class="track-agrees" style={{ left: from === null ? '0' : place(from), right: to === null ? '0' : `calc(100% - ${place(to)})` }} />
          {each.ci95[0] !== null && each.ci95[1] !== null && <i class="track-interval" style={{ left: place(each.ci95[0]), right: `calc(100% - ${place(each.ci95[1])})` }} />}
          {each.here !== null && <i class="track-mean mark-circle" style={{ left: place(each.here) }} />}
        </span>
      </td>
      <td>
        <Verdict verdict={each.verdict} />
      </td>
      <td class="quiet">{each.source}</td>
    </tr>
  );
}

const CHECKED: Readonly<Record<string, readonly [string, string]>> = {
  rate_mbps: ['carried in the fastest second, at most what was configured', 'Mbit/s'],
  delay_ms: ['delay without queues', 'ms'],
  late_ms: ['lateness of packets, p99.9, at most what is accepted', 'ms'],
  unlogged: ['packets missing from the log', ''],
  queue_ms: ['longest wait, at most what the queue allows', 'ms'],
  packets: ['packets sent, and ended or on their way', ''],
};

export function SelfCheck({ data }: { data: Data }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>System</th>
            <th>Link or flow</th>
            <th>Check</th>
            <th class="figure">Configured</th>
            <th class="figure">Measured</th>
            <th />
          </tr>
        </thead>
        <tbody>
          {data.selfcheck.map((each, index) => {
            const [what, unit] = CHECKED[each.what] ?? [each.what, ''];
            const show = (value: number): string => (each.what === 'packets' ? value.toLocaleString('en') : number(value));
            return (
              <tr key={index}>
                <th scope="row">{each.system}</th>
                <td>{each.of}</td>
                <td>
                  {what} <span class="quiet">{unit}</span>
                </td>
                <td class="figure">{show(each.configured)}</td>
                <td class="figure">{show(each.measured)}</td>
                <td>
                  <span class={`verdict tone-${each.ok ? 'good' : 'bad'}`}>{each.ok ? '✓ passed' : '✗ failed'}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** Every figure, those of single flows and links too. */
export function Everything({ data }: { data: Data }) {
  const names = [...new Set(data.results.map((row) => row.metric))];
  const order = (name: string): number => data.metrics.findIndex((metric) => metric.name === split(name)[0]);
  names.sort((a, b) => order(a) - order(b));
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Metric</th>
            {data.systems.map((system) => (
              <th key={system.name} class="figure">
                {system.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name) => {
            const [base, of] = split(name);
            const metric = data.metrics.find((known) => known.name === base);
            return (
              <tr key={name}>
                <th scope="row" title={metric?.formula ?? ''}>
                  {metric?.title ?? base} {of !== null && <span class="of">{of}</span>} <span class="quiet">{unitOf(base, metric?.unit ?? '1')}</span>
                </th>
                {data.systems.map((system) => {
                  const row = data.results.find((each) => each.system === system.name && each.metric === name);
                  return (
                    <td key={system.name} class="figure">
                      {row === undefined ? '–' : <Figure row={row} name={base} />}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
