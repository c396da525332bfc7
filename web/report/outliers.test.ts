import { expect, it } from 'vitest';
import { cutOf, roofOf } from './outliers';

const many = (count: number, value: number): number[] => Array.from({ length: count }, () => value);

it('cuts what a hundredth of the values would fill, and counts it', () => {
  expect(cutOf([...many(999, 100), ...many(3, 300), null])).toEqual({ top: 106, hidden: 3, highest: 300 });
});

it('shows the other systems beside a link that held packets back for ten seconds', () => {
  const stuck = [...many(21, 10_000), ...many(180, 40)];
  expect(cutOf([...many(300, 95), ...stuck, ...many(300, 80)])).toEqual({ top: 95 * 2, hidden: 21, highest: 10_000 });
});

it.each([[[]], [[null]], [[0, 0, 0]], [many(100, 5)], [[...many(99, 100), 140]], [[...many(50, 1), ...many(50, 100)]]])('leaves %j as it is', (values) => {
  expect(cutOf(values)).toBeNull();
});

it('scales to the data where the capacity is far above it', () => {
  expect(roofOf([1, 2.5, null], [100, 100, 2], null)).toEqual({ top: 2.5 * 1.06, hidden: 2, highest: 100 });
  // An axis that was cut already ends there.
  expect(roofOf([1, 90], [100, 100], 2)).toEqual({ top: 2, hidden: 2, highest: 100 });
  expect(roofOf([1, 4], [5, 5], null)).toBeNull();
  expect(roofOf([0, null], [5, 5], null)).toBeNull();
  expect(roofOf([1, 4], [], null)).toBeNull();
});
