import { expect, test } from 'vitest';
import { timesOf, valuesAt } from './times';

const RUN = [0.2, 0.4, 0.2 * 3, 0.8];
const LONG = [0.6, 1.2, 1.8];

test('series with equal steps have the times of the longest', () => {
  expect(timesOf([[1, 2], [1, 2, 3]])).toEqual([1, 2, 3]);
  expect(valuesAt([1, 2, 3], [1, 2], [5, 6])).toEqual([5, 6, null]);
});

test('a coarser series has the value of its period at each time', () => {
  const times = timesOf([RUN, LONG]);
  expect(times).toHaveLength(6);
  expect(valuesAt(times, RUN, [1, 2, null, 4])).toEqual([1, 2, null, 4, null, null]);
  expect(valuesAt(times, LONG, [7, 8, 9])).toEqual([7, 7, 7, 8, 8, 9]);
});
