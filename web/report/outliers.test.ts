import { expect, it } from 'vitest';
import { cutOf } from './outliers';

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
