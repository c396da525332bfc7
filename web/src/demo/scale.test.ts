import { expect, it } from 'vitest';
import { niceTop } from './scale';

it.each([
  [0, 4, 4],
  [4, 4, 4],
  [4.1, 4, 5],
  [8.6, 4, 10],
  [11, 4, 12],
  [130, 100, 160],
  [0.3, 0.1, 0.3],
  [2_100, 100, 3_000],
])('for %f, at least %f, is %f', (max, atLeast, top) => {
  expect(niceTop(max, atLeast)).toBe(top);
});

it('is never below what it has to hold', () => {
  for (let value = 0.01; value < 1e5; value *= 1.037) {
    const top = niceTop(value, 0);
    expect(top).toBeGreaterThanOrEqual(value * (1 - 1e-9));
    expect(top).toBeLessThanOrEqual(value * 1.51);
  }
});
