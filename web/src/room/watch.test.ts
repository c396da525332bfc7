import { expect, it } from 'vitest';
import { viewOf, type Tile } from './watch';

const tile = (participant: string, width: number, height: number): Tile => ({ participant, camera: 0, width, height });

it('lists the largest tile first, others in the order that they have', () => {
  const view = viewOf([tile('ada', 320, 180), tile('bob', 320, 180), tile('eve', 960, 540), tile('kim', 320, 180)], 1);
  expect(view.map(({ participant }) => participant)).toEqual(['eve', 'ada', 'bob', 'kim']);
});

it('has whole physical pixels', () => {
  expect(viewOf([tile('ada', 333, 187)], 1.5)).toEqual([{ participant: 'ada', camera: 0, width: 500, height: 281 }]);
});

it('leaves out tiles before they have a size', () => {
  expect(viewOf([tile('ada', 0, 0), tile('bob', 16, 9)], 2).map(({ participant }) => participant)).toEqual(['bob']);
});
