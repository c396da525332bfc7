// The result in a sentence or two, from the seeds that both systems ran.

import type { Data } from './data';
import { number } from './figures';

/** Two ratios closer than this read the same. */
const SAME = 0.05;

/** A system of one link: `webrtc@wifi`, `single/gcc`. */
const SINGLE = /@|^single/;

/** What stands first in the report; nothing where there is nothing to compare. */
export function verdictOf(data: Data): readonly string[] {
  if (data.sides !== undefined) return changeOf(data);
  const subject = subjectOf(data);
  if (subject === null) return [];
  const carried = against(data, subject, 'goodput_mbps', (a, b) => b - a);
  const still = against(data, subject, 'freeze_s', (a, b) => a - b);
  return sentences(data, subject, carried, still);
}

function sentences({ scenario }: Data, subject: string, carried: Pairs | null, still: Pairs | null): readonly string[] {
  const said: string[] = [];
  if (carried !== null) said.push(carriedSentence(subject, carried));
  if (still !== null) said.push(stillSentence(subject, still, scenario.duration_s - scenario.measure_from_s));
  return said;
}

/** What the second folder changes, of the call over all links. */
function changeOf(data: Data): readonly string[] {
  const of = (metric: string) => data.differences.filter((each) => each.metric === metric);
  const subject = of('goodput_mbps').length > 0 ? 'goodput_mbps' : 'throughput_mbps';
  const found = of(subject).find(({ system }) => system.startsWith('weft ')) ?? of(subject).find(({ system }) => !SINGLE.test(system)) ?? of(subject)[0];
  if (found === undefined) return [];
  const pairs = (metric: string): Pairs | null => pairsOf(data, metric, found.system, found.baseline);
  return sentences(data, found.system, pairs(subject), pairs('freeze_s'));
}

/** What is asked about: the call over all links. */
function subjectOf(data: Data): string | null {
  const baselines = baselinesOf(data);
  const many = data.systems.filter(({ name }) => !SINGLE.test(name) && !baselines.includes(name));
  return (many.find(({ name }) => name === 'weft') ?? many[0])?.name ?? null;
}

/** Names of what others are compared with: as the scenario says, or as was found. */
function baselinesOf({ systems, scenario, differences }: Data): readonly string[] {
  const told = systems.filter(({ system }) => system === scenario.baseline);
  return told.length > 0 ? told.map(({ name }) => name) : [...new Set(differences.map(({ baseline }) => baseline))];
}

interface Pairs {
  readonly other: string;
  /** It is the best of several links, by this metric. */
  readonly best: boolean;
  readonly mine: number;
  readonly theirs: number;
  /** In how many seeds ours is larger, and in how many smaller. */
  readonly more: number;
  readonly less: number;
  readonly n: number;
  /** The interval of the difference holds zero: other seeds may say otherwise. */
  readonly unclear: boolean;
}

/** The subject beside the best single link, or beside the baseline where there is none. */
function against(data: Data, subject: string, metric: string, order: (a: number, b: number) => number): Pairs | null {
  const singles = data.systems.map(({ name }) => name).filter((name) => SINGLE.test(name) && name !== subject);
  const baselines = baselinesOf(data).filter((name) => name !== subject);
  const found = (singles.length > 0 ? singles : baselines)
    .flatMap((other) => pairsOf(data, metric, subject, other) ?? [])
    .sort((a, b) => order(a.theirs, b.theirs))[0];
  return found === undefined ? null : { ...found, best: singles.length > 1 };
}

/** Two systems, seed by seed. */
function pairsOf({ values, differences }: Data, metric: string, subject: string, other: string): Pairs | null {
  const of = (name: string): readonly (number | null)[] => values[name]?.[metric] ?? [];
  const pairs = of(subject).flatMap((mine, seed) => {
    const theirs = of(other)[seed] ?? null;
    return mine === null || theirs === null ? [] : [[mine, theirs] as const];
  });
  if (pairs.length === 0) return null;
  return {
    other,
    best: false,
    mine: mean(pairs.map(([each]) => each)),
    theirs: mean(pairs.map(([, each]) => each)),
    more: pairs.filter(([a, b]) => a > b).length,
    less: pairs.filter(([a, b]) => a < b).length,
    n: pairs.length,
    unclear: differences.some((each) => each.metric === metric && each.system === subject && each.baseline === other && each.verdict === 'unclear'),
  };
}

function carriedSentence(subject: string, pairs: Pairs): string {
  const { mine, theirs, more, less } = pairs;
  const who = named(pairs);
  if (theirs <= 0) return `${subject} carried ${number(mine)} Mbit/s, ${who} nothing.`;
  const ratio = mine / theirs;
  if (Math.abs(ratio - 1) < SAME) return `${subject} carried as much as ${who} did: ${number(mine)} Mbit/s.`;
  return `${subject} carried ${short(ratio)} times what ${who} did${ratio > 1 ? inSeeds('more', more, pairs) : inSeeds('less', less, pairs)}.`;
}

function stillSentence(subject: string, pairs: Pairs, duration: number): string {
  const { mine, theirs, more, less } = pairs;
  const who = named(pairs);
  if (mine === 0 && theirs === 0) return `Neither ${subject} nor ${who} ever stood still.`;
  const of = ` of ${number(duration)}`;
  const ours = mine === 0 ? 'never stood still' : `stood still for ${short(mine)} s${of}`;
  const others = theirs === 0 ? 'never' : `for ${short(theirs)} s${mine === 0 ? of : ''}`;
  const seeds = mine === theirs ? '' : mine < theirs ? inSeeds(`${subject} shorter`, less, pairs) : inSeeds(`${subject} longer`, more, pairs);
  return `${subject} ${ours}, ${who} ${others}${seeds}.`;
}

/** How many seeds say so, and whether that is enough. */
function inSeeds(what: string, count: number, { n, unclear }: Pairs): string {
  return n < 2 ? '' : `: ${what} in ${count} of ${n} seeds${unclear ? ', which may be chance' : ''}`;
}

function named({ other, best }: Pairs): string {
  return best ? `the best single link (${other})` : other;
}

/** Two figures: nobody compares the third in a sentence. */
function short(value: number): string {
  return String(Number(value.toPrecision(2)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
