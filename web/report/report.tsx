import type { ComponentChildren, FunctionComponent } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { anyBoxes, Boxes } from './boxes-view';
import { casesOf, under } from './cases';
import { Conditions } from './conditions';
import { Distributions } from './cdf';
import { shownSeeds, split, withSeed, type Data, type Side } from './data';
import { number, seconds } from './figures';
import { Forest, type Compared } from './forest';
import { foremost } from './headline';
import { anyInside, Inside } from './inside-view';
import { usePalette } from './look';
import { Profiles } from './profile';
import { Recordings } from './recordings';
import { anySweep, Sweep } from './sweep-view';
import { Differences, Everything, Published, SelfCheck, WorseThanSingle } from './tables';
import { OverTime } from './time';

export function Report({ data: everything }: { data: Data }) {
  const palette = usePalette();
  const cases = casesOf(everything);
  const [chosen, choose] = useState(cases[0] ?? '');
  const data = useMemo(() => (cases.length > 0 ? under(everything, chosen) : everything), [everything, chosen]);
  const asked = (name: string): boolean => split(name)[1] === null || data.scenario.metrics.includes(name);
  const names = [...new Set(data.results.map((row) => row.metric))].filter(asked);
  const order = (name: string): number => data.metrics.findIndex((metric) => metric.name === split(name)[0]);
  names.sort((a, b) => order(a) - order(b));
  const changed = names.filter((name) => data.differences.some((each) => each.metric === name));
  const seeds = shownSeeds(data);
  const [chosenSeed, chooseSeed] = useState(seeds[0] ?? 1);
  const seed = seeds.includes(chosenSeed) ? chosenSeed : (seeds[0] ?? 1);
  const run = useMemo(() => withSeed(data, seed), [data, seed]);
  const oneRun = data.engine === RECORDING ? 'From the start of each recording.' : `The run with seed ${seed}${data.traces.length === 0 ? '' : `, trace ${data.traces[(seed - 1) % data.traces.length] ?? ''}`}.`;
  return (
    <>
      <Head data={everything} />
      {cases.length > 0 && (
        <div class="cases" role="group" aria-label="Results under">
          <span class="quiet">Results under</span>
          {cases.map((name) => (
            <button type="button" key={name} aria-pressed={name === chosen} onClick={() => choose(name)}>
              {name}
            </button>
          ))}
        </div>
      )}
      <main>
        <Result data={data} />
        <Part id="results" title={cases.length > 0 ? `Results, ${chosen}` : 'Results'} note={note(data)}>
          <Foremost names={names} data={data} view={Forests} />
        </Part>
        {(data.recordings ?? []).length > 0 && (
          <Part id="recordings" title="Recordings" note="Calls as their files show them. What a file does not show is left out.">
            <Recordings recordings={data.recordings ?? []} />
          </Part>
        )}
        {anySweep(everything) && (
          <Part id="sweep" title="Against the varied values" note={`A line for each system${everything.seeds.length > 1 ? ', with 95 % intervals' : ''}; with several fields also heat maps.`}>
            <Sweep data={everything} palette={palette} />
          </Part>
        )}
        {data.published.length > 0 && (
          <Part id="published" title="Published, and here" note="The band is what agrees with the publication; the bar is our 95 % interval.">
            <Published data={everything} />
          </Part>
        )}
        {anyBoxes(everything) && (
          <Part id="boxes" title="Under every condition" note="Each box is of all runs of a condition: quartiles with the median between, whiskers to the farthest value within one and a half boxes, the others as dots.">
            <Boxes data={everything} palette={palette} />
          </Part>
        )}
        {changed.length > 0 && (
          <Part id="differences" title="What each system changes" note={`Differences from ${baselineWords(data)}, seed by seed, with 95 % intervals. “Unclear” means that the interval contains zero.`}>
            <Foremost names={changed} data={data} view={Differences} />
          </Part>
        )}
        {data.worse_than_single.length > 0 && (
          <Part
            id="single"
            title="Against the best single link"
            note="The best of the calls over one link, chosen again for every seed and metric, as nobody can know it beforehand; worse means by more than 5 %, or by anything where the best is zero."
          >
            <Foremost data={data} names={[...new Set(data.worse_than_single.map((each) => each.metric))]} view={WorseThanSingle} />
          </Part>
        )}
        {(data.profiles ?? []).length > 0 && (
          <Part id="profile" title="Second by second" note={`From the start of what is under test on: the median of ${data.seeds.length === 1 ? 'the one run' : `${data.seeds.length} runs, and the quartiles around it`}.`}>
            <Profiles key={chosen} data={data} palette={palette} />
          </Part>
        )}
        <Part id="time" title="Over time" note={oneRun}>
          <Seeds all={data.seeds} shown={seeds} chosen={seed} choose={chooseSeed} />
          <OverTime key={chosen} data={run} palette={palette} />
        </Part>
        {anyInside(run) && (
          <Part id="controllers" title="Inside the congestion controllers" note={`${oneRun} What each call sent and met, and what its controller made of it.`}>
            <Inside key={chosen} data={run} palette={palette} />
          </Part>
        )}
        {data.cdfs.length > 0 && (
          <Part id="distributions" title="How it was spread" note="Samples of all seeds together: of delays the share of packets or frames, of rates the share of the time, in which the quantity was at most this. The tables have means of each seed’s own percentiles instead.">
            <Distributions data={data} palette={palette} />
          </Part>
        )}
        <Part id="conditions" title="How it was run">
          <Conditions data={everything} />
        </Part>
        {everything.selfcheck.length > 0 && (
          <Part id="selfcheck" title="Self-check" note="Whether the simulated links did what the scenario says: delays as long, rates and queues no more than that; the worst of all seeds.">
            <Fold open={everything.selfcheck.some((check) => !check.ok)} label={checkLabel(everything)}>
              <SelfCheck data={everything} />
            </Fold>
          </Part>
        )}
        <Part id="figures" title="All figures" note="With those of single flows and links.">
          <Fold open={false} label={`${everything.results.length} figures`}>
            <Everything data={everything} />
          </Fold>
        </Part>
      </main>
    </>
  );
}

/** The result in words, before any figure. */
function Result({ data }: { data: Data }) {
  const said = (data.answers ?? []).flatMap(({ sentences }) => sentences);
  if (said.length === 0) return null;
  return (
    <section class="verdict-first" aria-label="Result">
      {said.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </section>
  );
}

interface OfMetrics {
  readonly data: Data;
  readonly names: readonly string[];
}

/** What people ask first; the rest can be opened. */
function Foremost({ data, names, view: View }: OfMetrics & { readonly view: FunctionComponent<OfMetrics> }) {
  const [first, folded] = foremost(names, data.key_metrics ?? []);
  return (
    <>
      <View data={data} names={first} />
      {folded.length > 0 && (
        <Fold open={false} label={`${folded.length} more metrics`}>
          <View data={data} names={folded} />
        </Fold>
      )}
    </>
  );
}

/** A card for each of these metrics. */
function Forests({ data, names }: OfMetrics) {
  const systems = data.systems.map((system) => system.name);
  return (
    <div class="forests">
      {names.map((name) => {
        const metric = data.metrics.find((each) => each.name === split(name)[0]);
        if (metric === undefined) return null;
        return (
          <Forest
            key={name}
            metric={metric}
            of={split(name)[1]}
            rows={data.results.filter((row) => row.metric === name)}
            systems={systems}
            values={(system) => data.values[system]?.[name] ?? []}
            compared={data.sides === undefined ? comparedWith(data, name) : null}
          />
        );
      })}
    </div>
  );
}

/** What a scenario's author has between backticks, as code. */
function withCode(text: string): ComponentChildren[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part));
}

function Head({ data }: { data: Data }) {
  const { scenario } = data;
  const failing = data.selfcheck.filter((check) => !check.ok).length;
  const agreeing = data.published.filter((each) => each.verdict === 'agrees').length;
  return (
    <header>
      <p class="brand">weft lab</p>
      <h1>{scenario.title}</h1>
      {scenario.about !== '' && <p class="about">{withCode(scenario.about)}</p>}
      {(data.sides ?? [{ ...data, name: '' }]).map((side) => (
        <ul class="facts" key={side.name}>
          {side.name !== '' && (
            <li>
              <strong>{side.name}</strong>
            </li>
          )}
          {factsOf(side, data).map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      ))}
      <ul class="badges">
        {data.selfcheck.length > 0 && (
          <Badge tone={failing === 0 ? 'good' : 'bad'} to="#selfcheck">
            {failing === 0 ? '✓ self-check passed' : `✗ ${failing} self-checks failed`}
          </Badge>
        )}
        {data.published.length > 0 && (
          <Badge tone={agreeing === data.published.length ? 'good' : 'warn'} to="#published">
            {agreeing} of {data.published.length} published values agree
          </Badge>
        )}
        {data.finished < data.wanted && (
          <Badge tone="bad" to="#conditions">
            partial: {data.finished} of {data.wanted} runs
          </Badge>
        )}
      </ul>
      {data.failed.length > 0 && (
        <div class="failed" role="alert">
          <strong>
            {data.failed.length} {data.failed.length === 1 ? 'run' : 'runs'} failed.
          </strong>{' '}
          {data.failed[0]}
        </div>
      )}
    </header>
  );
}

/** Engine of a report that has only recordings. */
const RECORDING = 'recording';

function factsOf(side: Side, { traces, finished, sides }: Data): readonly string[] {
  const { scenario, conditions, seeds } = side;
  const date = new Date(conditions.unix_s * 1000).toISOString().slice(0, 16).replace('T', ' ');
  if (side.engine === RECORDING) return [`weft ${side.version}`, seconds(scenario.duration_s), `read ${date} UTC`];
  return [
    scenario.name,
    `weft ${side.version}, engine ${side.engine}`,
    ...(traces.length > 0 ? [`traces ${traces.join(', ')}, one a seed`] : []),
    seeds.length === 1 ? 'one seed' : `seeds ${seeds[0] ?? '–'} to ${seeds.at(-1) ?? '–'}`,
    `${seconds(scenario.duration_s)} each${scenario.measure_from_s > 0 ? `, measured from ${seconds(scenario.measure_from_s)}` : ''}`,
    `${date} UTC`,
    `${sides === undefined ? `${finished} runs in ` : ''}${seconds(conditions.took_s)}, ${conditions.machine}`,
  ];
}

function Badge({ tone, to, children }: { tone: string; to: string; children: ComponentChildren }) {
  return (
    <li>
      <a class={`badge tone-${tone}`} href={to}>
        {children}
      </a>
    </li>
  );
}

function Part({ id, title, note: about, children }: { id: string; title: string; note?: string; children: ComponentChildren }) {
  return (
    <section class="part" id={id}>
      <h2>{title}</h2>
      {about !== undefined && <p class="quiet note">{about}</p>}
      {children}
    </section>
  );
}

function Fold({ open, label, children }: { open: boolean; label: string; children: ComponentChildren }) {
  return (
    <details open={open}>
      <summary>{label}</summary>
      {children}
    </details>
  );
}

/** The system that others are compared with by this metric, under its name here, and why that one. */
function comparedWith(data: Data, metric: string): Compared | null {
  const system = data.differences.find((each) => each.metric === metric)?.baseline;
  if (system === undefined) return null;
  return { system, as: data.scenario.baseline === null && data.worse_than_single.length > 0 ? 'best link' : 'baseline' };
}

/** What differences are to, in words. */
function baselineWords(data: Data): string {
  const [first] = data.sides ?? [];
  if (first !== undefined) return `the same system in ${first.name}`;
  return data.scenario.baseline ?? (data.worse_than_single.length > 0 ? 'the best call over one link, by each metric' : (data.differences[0]?.baseline ?? ''));
}

/** Which run is looked at. */
function Seeds({ all, shown, chosen, choose }: { all: readonly number[]; shown: readonly number[]; chosen: number; choose: (seed: number) => void }) {
  if (shown.length < 2) return null;
  return (
    <div class="seeds" role="group" aria-label="Seed">
      <span class="quiet">Seed</span>
      {shown.map((seed) => (
        <button type="button" key={seed} aria-pressed={seed === chosen} onClick={() => choose(seed)}>
          {seed}
        </button>
      ))}
      {all.length > shown.length && <span class="quiet">the others are in series/</span>}
    </div>
  );
}

function note(data: Data): string {
  const centre = data.scenario.centre === 'mean' ? 'Means' : 'Medians';
  if (data.engine === RECORDING) return 'Each recording is one call: there is no interval to tell chance from effect.';
  if (data.seeds.length < 2) return 'One seed: there is no interval to tell chance from effect.';
  // As weft-lab's statistics.rs has it.
  const interval = data.scenario.centre === 'median' && data.seeds.length < 6 ? 'their whole range, as fewer than six have no 95 % interval' : '95 % confidence intervals';
  const medians = data.results.some((row) => row.median !== undefined) ? ' Where the interval of a mean says little, because a few seeds have large values, the median stands first, with the mean below it.' : '';
  return `${centre} over ${number(data.seeds.length)} seeds with ${interval}; the faint marks are single seeds.${medians}`;
}

function checkLabel(data: Data): string {
  const bad = data.selfcheck.filter((check) => !check.ok).length;
  return bad === 0 ? `All ${data.selfcheck.length} checks fit` : `${bad} of ${data.selfcheck.length} checks do not fit`;
}
