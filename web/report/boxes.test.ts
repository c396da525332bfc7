import { expect, it } from 'vitest';
import { boxOf, csvOfGrid, factorsOf, gridOf } from './boxes';
import type { Data } from './data';

it('is a box of quartiles with whiskers to what is not far', () => {
  expect(boxOf([1, 2, 3, 4, 5])).toEqual({ low: 1, lower: 2, median: 3, upper: 4, high: 5, beyond: [] });
  // A box of 2: 8 lies more than 3 above 4.
  expect(boxOf([5, 1, null, 2, 3, 4, 8])).toMatchObject({ lower: 2.25, median: 3.5, upper: 4.75, high: 8, beyond: [] });
  expect(boxOf([1, 2, 3, 4, 9])).toMatchObject({ lower: 2, upper: 4, high: 4, beyond: [9] });
  expect(boxOf([7])).toMatchObject({ low: 7, median: 7, high: 7 });
  expect(boxOf([null])).toBeNull();
});

const name = (app: string, tcp: string, aqm: string): string => `${app} (${tcp}, ${aqm})`;
const all = ['signal', 'telegram'].flatMap((app) => ['cubic', 'bbr2'].flatMap((tcp) => ['droptail', 'codel'].map((aqm) => [app, tcp, aqm] as const)));
const data = {
  systems: all.map(([app, tcp, aqm]) => ({
    name: name(app, tcp, aqm),
    system: app,
    case: [
      ['flows.tcp.algorithm', tcp],
      ['links.line.aqm', aqm],
    ],
  })),
  values: Object.fromEntries(all.map(([app, tcp, aqm], place) => [name(app, tcp, aqm), { harm: [place, place, place] }])),
} as unknown as Data;

it('has a panel for each condition that is neither across nor beside', () => {
  expect(factorsOf(data).map((factor) => factor.name)).toEqual(['flows.tcp.algorithm', 'links.line.aqm', 'system']);
  const grid = gridOf(data, 'harm', 'links.line.aqm', 'system');
  expect(grid?.panels.map((panel) => panel.title)).toEqual(['algorithm cubic', 'algorithm bbr2']);
  // Behind CoDel, beside BBRv2, Telegram: the last of all.
  expect(grid?.panels[1]?.boxes[1]?.[1]?.median).toBe(7);
  expect(grid?.range).toEqual([0, 7]);
  expect(gridOf(data, 'loss', 'links.line.aqm', 'system')).toBeNull();
});

it('writes a row for each box', () => {
  const grid = gridOf(data, 'harm', 'flows.tcp.algorithm', 'links.line.aqm');
  const rows = grid === null ? [] : csvOfGrid(grid).trim().split('\n');
  expect(rows[0]).toBe('condition,algorithm,aqm,low,lower,median,upper,high,beyond');
  expect(rows[1]).toBe('system signal,cubic,droptail,0,0,0,0,0,');
  expect(rows).toHaveLength(9);
});
