import { expect, it } from 'vitest';
import { cameraNames, pictureLabel } from './camera';

it('numbers cameras only where there are several', () => {
  expect(cameraNames([])).toEqual([]);
  expect(cameraNames([{ name: null }])).toEqual([null]);
  expect(cameraNames([{ name: 'Rear' }])).toEqual(['Rear']);
  expect(cameraNames([{ name: null }, { name: 'Rear' }, { name: null }])).toEqual(['camera 1', 'Rear', 'camera 3']);
});

it('calls a single picture after its owner alone', () => {
  expect(pictureLabel('Ada', null)).toBe('Picture of Ada');
  expect(pictureLabel('Ada', 'Rear')).toBe('Picture of Ada: Rear');
});
