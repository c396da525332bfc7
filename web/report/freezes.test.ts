import { expect, it } from 'vitest';
import { frozenOf, frozenWords, spansOf } from './freezes';

const one = { of: 'call', seconds: 0.187, cameras: [[[3.1, 3.287]]] } as const;

it('says what the table says, however short the freeze is', () => {
  expect(frozenWords(one)).toBe('froze for 0.187 s');
  expect(frozenWords({ of: 'call', seconds: 0, cameras: [[]] })).toBe('never froze');
  expect(frozenWords({ of: 'call', seconds: 1.5, cameras: [[[0, 3]], []] })).toBe('froze for 1.50 s, mean of 2 cameras');
});

it('draws each freeze of each camera within the strip', () => {
  const two = { of: 'call', seconds: 2, cameras: [[[0, 1]], [[0.1, 0.2], [9, 12]]] } as const;
  expect(spansOf(two, [0.2, 10])).toEqual([
    { from: 0.2, until: 1, row: 0 },
    { from: 9, until: 10, row: 1 },
  ]);
});

it('finds the freezes of a flow, and none in reports of earlier versions', () => {
  expect(frozenOf({ t: [], columns: [], freezes: [one] }, 'call')).toBe(one);
  expect(frozenOf({ t: [], columns: [], freezes: [one] }, 'other')).toBeNull();
  expect(frozenOf({ t: [], columns: [] }, 'call')).toBeNull();
});
