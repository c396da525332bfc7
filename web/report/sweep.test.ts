import { expect, it } from 'vitest';
import type { Data } from './data';
import { axesOf, csvOfHeatMaps, heatMapsOf, linesOf, numbersOf } from './sweep';

const all = ['webrtc@a', 'weft'].flatMap((system) => ['10ms', '1s'].flatMap((delay) => ['0%', '2%', '5%'].map((loss) => [system, delay, loss] as const)));
const name = (system: string, delay: string, loss: string): string => `${system} (a.delay ${delay}, a.loss ${loss})`;
const data = {
  systems: all.map(([system, delay, loss]) => ({
    name: name(system, delay, loss),
    system,
    case: [
      ['links.a.delay', delay],
      ['links.b.delay', delay],
      ['links.a.loss', loss],
    ],
  })),
  results: all.map(([system, delay, loss], place) => ({ system: name(system, delay, loss), metric: 'fps', unit: '1/s', mean: place, ci95: place === 7 ? [null, null] : [place - 1, place + 1], n: 3 })),
} as unknown as Data;

it('has an axis for each field, and one for fields that change together', () => {
  expect(axesOf(data)).toEqual([
    { name: 'links.a.delay', values: ['10ms', '1s'] },
    { name: 'links.a.loss', values: ['0%', '2%', '5%'] },
  ]);
});

it('reads numbers with units of one kind', () => {
  expect(numbersOf(['10ms', '1s', '2min'])).toEqual({ numbers: [10, 1000, 120_000], unit: 'ms' });
  expect(numbersOf(['1mbit', '500kbit'])).toEqual({ numbers: [1, 0.5], unit: 'mbit' });
  expect(numbersOf(['1bdp', '0.5bdp'])).toEqual({ numbers: [1, 0.5], unit: 'bdp' });
  expect(numbersOf(['1', '2'])).toEqual({ numbers: [1, 2], unit: '' });
  expect(numbersOf(['2bdp', '60kB'])).toBeNull();
  expect(numbersOf(['1s', '1000ms'])).toBeNull();
  expect(numbersOf(['cubic', 'reno'])).toBeNull();
});

it('has a line for each system, at one value of the other fields', () => {
  const lines = linesOf(data, 'fps', 'links.a.loss', ['0%', '2%', '5%'], { 'links.a.delay': '1s' });
  expect(lines.map((line) => [line.system, ...line.values])).toEqual([
    ['webrtc@a', 3, 4, 5],
    ['weft', 9, 10, 11],
  ]);
  expect(lines[1]).toMatchObject({ lower: [8, 9, 10], upper: [10, 11, 12] });
  expect(linesOf(data, 'fps', 'links.a.loss', ['2%'], { 'links.a.delay': '10ms' })[1]).toMatchObject({ values: [7], lower: [null] });
  expect(linesOf(data, 'harm', 'links.a.loss', ['2%'], {})[0]?.values).toEqual([null]);
});

it('has a heat map for each system', () => {
  const [across, down] = axesOf(data) as [ReturnType<typeof axesOf>[number], ReturnType<typeof axesOf>[number]];
  const maps = heatMapsOf(data, 'fps', across, down, {});
  expect(maps[1]).toEqual({ system: 'weft', cells: [[6, 9], [7, 10], [8, 11]] });
  const csv = csvOfHeatMaps(maps, across, down, 'fps').split('\n');
  expect(csv[0]).toBe('system,links.a.delay,links.a.loss,fps');
  expect(csv[2]).toBe('webrtc@a,1s,0%,3');
  expect(csv).toHaveLength(1 + 12 + 1);
});
