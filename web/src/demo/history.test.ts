import { expect, it } from 'vitest';
import type { Tick } from '../model/types';
import { columns, extend, runs, type History } from './history';

const tick = (t: number, phase = ''): Tick => ({ t, phase, links: [], calls: new Map(), settings: [] });
const of = (...ticks: Tick[]): History => ticks.reduce<History>(extend, []);

it('keeps a minute and one sample beyond it', () => {
  let history: History = [];
  for (let count = 0; count <= 400; count += 1) history = extend(history, tick(count / 4));
  expect(history[0]?.t).toBe(39.75);
  expect(history.at(-1)?.t).toBe(100);
  expect(history).toHaveLength(242);
});

it('starts afresh when the demo does', () => {
  expect(of(tick(50), tick(50.25), tick(0)).map((each) => each.t)).toEqual([0]);
});

it('makes columns with a gap where ticks are missing', () => {
  const history = of(tick(0), tick(0.25), tick(10));
  expect(columns(history, [(each) => each.t * 2])).toEqual([
    [0, 0.25, 5.125, 10],
    [0, 0.5, null, 20],
  ]);
});

it('joins equal states to runs that reach the next tick', () => {
  const history = of(tick(0, 'up'), tick(0.25, 'up'), tick(0.5, 'down'), tick(0.75, 'down'));
  expect(runs(history, (each) => each.phase)).toEqual([
    { from: 0, to: 0.5, state: 'up' },
    { from: 0.5, to: 0.75, state: 'down' },
  ]);
});

it('claims no state for times without ticks', () => {
  const history = of(tick(0, 'up'), tick(1, 'up'), tick(9, 'up'), tick(10, 'up'));
  expect(runs(history, (each) => each.phase)).toEqual([
    { from: 0, to: 1, state: 'up' },
    { from: 9, to: 10, state: 'up' },
  ]);
});
