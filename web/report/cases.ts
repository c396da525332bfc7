// Results under one of the varied values, so that what is compared fits into
// one plot.

import type { Data } from './data';

type System = Data['systems'][number];

/** What was varied, as results call it: `cameras 2`. */
export function caseOf(system: System): string {
  const { name } = system;
  const inner = name.startsWith(`${system.system} (`) && name.endsWith(')') ? name.slice(system.system.length + 2, -1) : name;
  return system.case.length === 0 ? '' : inner;
}

/** The cases to choose from; none where there is one, or nothing to compare in each. */
export function casesOf(data: Data): readonly string[] {
  const run = data.systems.filter((each) => !isRecorded(data, each));
  const cases = [...new Set(run.map(caseOf))];
  const systems = new Set(run.map((each) => each.system));
  return cases.length > 1 && systems.size > 1 ? cases : [];
}

function isRecorded(data: Data, { name }: System): boolean {
  return (data.recordings ?? []).some((each) => each.name === name);
}

/** Results of this case and the recordings; the names of the systems leave the case out. */
export function under(data: Data, chosen: string): Data {
  const mine = data.systems.filter((each) => caseOf(each) === chosen || isRecorded(data, each));
  const short = new Map(mine.map((each) => [each.name, each.system]));
  const renamed = <T extends { readonly system: string }>(rows: readonly T[]): T[] => rows.flatMap((row) => (short.has(row.system) ? [{ ...row, system: short.get(row.system) ?? row.system }] : []));
  const keyed = <T>(all: Readonly<Record<string, T>>): Record<string, T> => Object.fromEntries(Object.entries(all).flatMap(([name, value]) => (short.has(name) ? [[short.get(name) ?? name, value]] : [])));
  return {
    ...data,
    systems: mine.map((each) => ({ ...each, name: each.system })),
    answers: (data.answers ?? []).filter((answer) => answer.case === chosen),
    results: renamed(data.results),
    values: keyed(data.values),
    differences: renamed(data.differences).map((row) => ({ ...row, baseline: short.get(row.baseline) ?? row.baseline })),
    worse_than_single: renamed(data.worse_than_single),
    cdfs: renamed(data.cdfs),
    profiles: renamed(data.profiles ?? []),
    series: keyed(data.series),
    more_series: Object.fromEntries(Object.entries(data.more_series ?? {}).map(([seed, series]) => [seed, keyed(series)])),
  };
}
