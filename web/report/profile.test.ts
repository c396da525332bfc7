import { expect, it } from 'vitest';
import type { Data } from './data';
import { profileOf } from './profile';

const profile = (system: string, of: string, from_s: number, values: readonly number[]) => ({ system, of, name: of === 'line' ? 'capacity_mbps' : 'rate_mbps', from_s, lower: values, median: values, upper: values });
const data = {
  scenario: { links: [{ name: 'line' }] },
  systems: [{ name: 'a' }, { name: 'b' }],
  seeds: [1, 2],
  profiles: [profile('a', 'call', 0, [1, 2, 3]), profile('b', 'call', 1, [5, 6, 7]), profile('a', 'tcp', 0, [9]), profile('a', 'line', 0, [4, 4, 4])],
} as unknown as Data;

it('lays systems that begin at other times on one axis', () => {
  const { x, lines } = profileOf(data, 'call');
  expect(x).toEqual([0, 1, 2, 3]);
  expect(lines.map(({ name, values }) => [name, values])).toEqual([
    ['capacity', [4, 4, 4, null]],
    ['a', [1, 2, 3, null]],
    ['b', [null, 5, 6, 7]],
  ]);
  expect(lines[2]?.band?.upper).toEqual([null, 5, 6, 7]);
});

it('shows no quartiles of a single run, and nothing of what is not there', () => {
  expect(profileOf({ ...data, seeds: [1] }, 'call').lines[1]?.band).toBeUndefined();
  expect(profileOf({ ...data, profiles: [] }, 'call')).toEqual({ x: [], lines: [] });
});
