import { describe, expect, it } from 'vitest';
import { casesOf, under } from './cases';
import type { Data } from './data';

function data(systems: readonly (readonly [string, string, string])[]): Data {
  const all = systems.map(([name, system, value]) => ({ name, system, case: value === '' ? [] : [['flows.call.streams', value] as const] }));
  const rows = all.map(({ name }, index) => ({ system: name, metric: 'fps', unit: '1/s', mean: index + 1, ci95: [null, null] as const, n: 1 }));
  const series = Object.fromEntries(all.map(({ name }) => [name, { t: [], columns: [] }]));
  return { systems: all, results: rows, values: {}, differences: [], worse_than_single: [], cdfs: [], series } as unknown as Data;
}

describe('cases', () => {
  const varied = data([
    ['weft (cameras 1)', 'weft', '1'],
    ['webrtc@wifi (cameras 1)', 'webrtc@wifi', '1'],
    ['weft (cameras 2)', 'weft', '2'],
    ['webrtc@wifi (cameras 2)', 'webrtc@wifi', '2'],
  ]);

  it('are what stands behind the systems', () => {
    expect(casesOf(varied)).toEqual(['cameras 1', 'cameras 2']);
    const two = under(varied, 'cameras 2');
    expect(two.results.map((row) => row.system)).toEqual(['weft', 'webrtc@wifi']);
    expect(two.results.map((row) => row.mean)).toEqual([3, 4]);
    expect(Object.keys(two.series)).toEqual(['weft', 'webrtc@wifi']);
  });

  it('are no values of recordings', () => {
    const train = { name: 'train', system: 'train', case: [] };
    expect(casesOf({ ...varied, systems: [...varied.systems, train], recordings: [train] } as unknown as Data)).toEqual(['cameras 1', 'cameras 2']);
  });

  it('are no choice where nothing is compared within them', () => {
    expect(casesOf(data([['1bdp', 'all', '1bdp'], ['2bdp', 'all', '2bdp']]))).toEqual([]);
    expect(casesOf(data([['weft', 'weft', ''], ['webrtc@wifi', 'webrtc@wifi', '']]))).toEqual([]);
  });
});
