import { expect, it } from 'vitest';
import { onScreen } from './screen';

it('draws no more pictures than a screen shows, and counts what is above', () => {
  expect(onScreen([30, 290, null, 0, 61])).toEqual({ values: [30, 60, null, 0, 60], above: 2, highest: 290 });
  expect(onScreen([30, 60])).toEqual({ values: [30, 60], above: 0, highest: 0 });
});
