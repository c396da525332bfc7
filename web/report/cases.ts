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
  const cases = [...new Set(data.systems.map(caseOf))];
  const systems = new Set(data.systems.map((each) => each.system));
  return cases.length > 1 && systems.size > 1 ? cases : [];
}

/** What was run under this case only. */
export function under(data: Data, chosen: string): Data {
  const systems = data.systems.filter((each) => caseOf(each) === chosen);
  const names = new Set(systems.map((each) => each.name));
  const mine = (each: { readonly system: string }): boolean => names.has(each.system);
  return {
    ...data,
    systems,
    results: data.results.filter(mine),
    differences: data.differences.filter(mine),
    worse_than_single: data.worse_than_single.filter(mine),
    cdfs: data.cdfs.filter(mine),
  };
}
