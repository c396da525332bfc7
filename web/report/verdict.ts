// The result in a sentence or two, from the seeds that both systems ran.

import type { Data } from './data';
import { number } from './figures';

/** Two ratios closer than this read the same. */
const SAME = 0.05;

/** A system of one link: `webrtc@wifi`, `single/gcc`. */
const SINGLE = /@|^single/;

/** What stands first in the report; nothing where there is nothing to compare. */
export function verdictOf(data: Data): readonly string[] {
  const subject = subjectOf(data);
  if (subject === null) return [];
  const carried = against(data, subject, 'goodput_mbps', (a, b) => b - a);
  const still = against(data, subject, 'freeze_s', (a, b) => a - b);
  return [...(carried === null ? [] : [carriedSentence(subject, carried)]), ...(still === null ? [] : [stillSentence(subject, still, data.scenario.duration_s - data.scenario.measure_from_s)])];
}

/** What is asked about: the call over all links. */
function subjectOf({ systems, scenario }: Data): string | null {
  const many = systems.filter(({ name, system }) => !SINGLE.test(name) && system !== scenario.baseline);
  return (many.find(({ name }) => name === 'weft') ?? many[0])?.name ?? null;
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
}

/** The subject beside the best single link, or beside the baseline where there is none. */
function against({ systems, values, scenario }: Data, subject: string, metric: string, order: (a: number, b: number) => number): Pairs | null {
  const of = (name: string): readonly (number | null)[] => values[name]?.[metric] ?? [];
  const singles = systems.map(({ name }) => name).filter((name) => SINGLE.test(name) && name !== subject);
  const baseline = systems.filter(({ system, name }) => system === scenario.baseline && name !== subject).map(({ name }) => name);
  const found = (singles.length > 0 ? singles : baseline)
    .flatMap((other) => {
      const pairs = of(subject).flatMap((mine, seed) => {
        const theirs = of(other)[seed] ?? null;
        return mine === null || theirs === null ? [] : [[mine, theirs] as const];
      });
      return pairs.length === 0 ? [] : [{ other, pairs, theirs: mean(pairs.map(([, each]) => each)) }];
    })
    .sort((a, b) => order(a.theirs, b.theirs))[0];
  if (found === undefined) return null;
  const { other, pairs, theirs } = found;
  return {
    other,
    best: singles.length > 1,
    mine: mean(pairs.map(([each]) => each)),
    theirs,
    more: pairs.filter(([a, b]) => a > b).length,
    less: pairs.filter(([a, b]) => a < b).length,
    n: pairs.length,
  };
}

function carriedSentence(subject: string, { other, best, mine, theirs, more, less, n }: Pairs): string {
  const who = named(other, best);
  if (theirs <= 0) return `${subject} carried ${number(mine)} Mbit/s, ${who} nothing.`;
  const ratio = mine / theirs;
  if (Math.abs(ratio - 1) < SAME) return `${subject} carried as much as ${who} did: ${number(mine)} Mbit/s.`;
  const seeds = n < 2 ? '' : ratio > 1 ? ` (more in ${more} of ${n} seeds)` : ` (less in ${less} of ${n} seeds)`;
  return `${subject} carried ${Number(ratio.toPrecision(2))} times what ${who} did${seeds}.`;
}

function stillSentence(subject: string, { other, best, mine, theirs, more, less, n }: Pairs, duration: number): string {
  const who = named(other, best);
  const seeds = n < 2 || mine === theirs ? '' : mine < theirs ? ` (${subject} less in ${less} of ${n} seeds)` : ` (${subject} more in ${more} of ${n} seeds)`;
  const ours = mine === 0 ? 'never stood still' : `stood still for ${number(mine)} s of ${number(duration)}`;
  if (mine === 0 && theirs === 0) return `Neither ${subject} nor ${who} ever stood still.`;
  return `${subject} ${ours}, ${who} ${theirs === 0 ? 'never' : `for ${number(theirs)} s`}${seeds}.`;
}

function named(other: string, best: boolean): string {
  return best ? `${other}, the best single link in this,` : other;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
