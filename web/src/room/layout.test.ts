import { expect, it } from 'vitest';
import { arrange, speakerOf, tileWidth } from './layout';

it.each([
  // 790 = (1600 - 10) / 2 columns, 791 = (900 - 10) / 2 rows of 16 : 9; 784 is the multiple of
  // 16 below.
  [1, 1600, 900, 1600],
  [2, 1600, 900, 784],
  [4, 1600, 900, 784],
  [2, 390, 700, 384],
  [3, 390, 700, 384],
  [1, 1600, 450, 800],
])('%i tiles in %i × %i are %i wide', (count, width, height, expected) => {
  expect(tileWidth(count, width, height, 10)).toBe(expected);
});

it('is nothing before the box has a size', () => {
  expect(tileWidth(3, 0, 0, 10)).toBeLessThanOrEqual(0);
});

it('always fits', () => {
  for (let count = 1; count < 30; count += 1) {
    for (const [width, height] of [[390, 640], [1280, 700], [700, 1200]] as const) {
      const tile = tileWidth(count, width, height, 10);
      const columns = Math.floor((width + 10) / (tile + 10));
      const rows = Math.ceil(count / columns);
      expect(rows * ((tile * 9) / 16) + (rows - 1) * 10).toBeLessThanOrEqual(height);
    }
  }
});

it('gives one other all the room there is, and a pinned one what the line of the rest leaves', () => {
  expect(arrange(1, false, 1280, 720, 10)).toEqual({ kind: 'two', tile: 1280, large: 0 });
  expect(arrange(3, false, 1280, 720, 10)).toEqual({ kind: 'grid', tile: tileWidth(4, 1280, 720, 10), large: 0 });
  const { kind, tile, large } = arrange(3, true, 1280, 720, 10);
  expect(kind).toBe('pinned');
  expect(large).toBeGreaterThan(3 * tile);
});

it('shows the rest below a pinned one whole, however many they are', () => {
  for (let others = 2; others < 30; others += 1) {
    for (const [width, height] of [[370, 690], [1248, 664], [700, 1200]] as const) {
      const { tile, large } = arrange(others, true, width, height, 10);
      const rows = Math.ceil(others / Math.floor((width + 10) / (tile + 10)));
      expect(large).toBeLessThanOrEqual(width);
      expect((large * 9) / 16 + rows * ((tile * 9) / 16 + 10)).toBeLessThanOrEqual(height);
      expect(tile).toBeGreaterThan(0);
      expect(large).toBeGreaterThanOrEqual(2 * tile);
    }
  }
});

it('makes the speaker large, and stays with a speaker whom others interrupt', () => {
  const everybody = ['ada', 'bob', 'eve'];
  expect(speakerOf(null, new Set(), everybody)).toBe('ada');
  expect(speakerOf('ada', new Set(['bob']), everybody)).toBe('bob');
  expect(speakerOf('bob', new Set(['ada', 'bob']), everybody)).toBe('bob');
  expect(speakerOf('bob', new Set(['eve']), everybody)).toBe('eve');
  expect(speakerOf('eve', new Set(), everybody)).toBe('eve');
  expect(speakerOf('eve', new Set(), ['ada', 'bob'])).toBe('ada');
  expect(speakerOf('eve', new Set(['eve']), [])).toBeNull();
});
