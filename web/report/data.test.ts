import { expect, it } from 'vitest';
import { under } from './cases';
import { shownSeeds, withSeed, type Data } from './data';

const run = (value: number) => ({ t: [value], columns: [] });
const data = {
  systems: [
    { name: 'weft (1)', system: 'weft', case: [['streams', '1']] },
    { name: 'weft (2)', system: 'weft', case: [['streams', '2']] },
  ],
  results: [],
  values: {},
  differences: [],
  worse_than_single: [],
  cdfs: [],
  series: { 'weft (1)': run(1), 'weft (2)': run(2) },
  more_series: { 10: { 'weft (1)': run(101) }, 2: { 'weft (1)': run(21), 'weft (2)': run(22) } },
} as unknown as Data;

it('shows the runs of any seed that is there', () => {
  expect(shownSeeds(data)).toEqual([1, 2, 10]);
  expect(withSeed(data, 2).series['weft (2)']?.t).toEqual([22]);
  expect(withSeed(data, 1).series['weft (2)']?.t).toEqual([2]);
  expect(shownSeeds({ ...data, series: {}, more_series: {} })).toEqual([]);
});

it('keeps the seeds under one of the varied values', () => {
  expect(withSeed(under(data, '1'), 10).series).toEqual({ weft: run(101) });
});

it('reads reports that have one seed only', () => {
  const { more_series: _, ...old } = data;
  expect(shownSeeds(old)).toEqual([1]);
  expect(withSeed(old, 7).series).toEqual({});
});

it('has recordings beside every seed and under every value', () => {
  const both = { ...data, systems: [...data.systems, { name: 'train', system: 'train', case: [] }], series: { ...data.series, train: run(7) }, recordings: [{ name: 'train' }] } as unknown as Data;
  expect(Object.keys(withSeed(both, 10).series)).toEqual(['weft (1)', 'train']);
  expect(under(both, '2').series).toEqual({ weft: run(2), train: run(7) });
  expect(shownSeeds(both)).toEqual([1, 2, 10]);
});
