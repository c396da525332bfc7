import { expect, it } from 'vitest';
import { cameraNames, pictureLabel } from './camera';

const camera = (name: string | null) => ({ name, screen: false, off: false });

it('numbers cameras only where there are several', () => {
  expect(cameraNames([])).toEqual([]);
  expect(cameraNames([camera(null)])).toEqual([null]);
  expect(cameraNames([camera('Rear')])).toEqual(['Rear']);
  expect(cameraNames([camera(null), camera('Rear'), camera(null)])).toEqual(['camera 1', 'Rear', 'camera 3']);
  expect(cameraNames([camera(null), { ...camera(null), screen: true }])).toEqual([null, 'screen']);
});

it('calls a single picture after its owner alone', () => {
  expect(pictureLabel('Ada', null)).toBe('Picture of Ada');
  expect(pictureLabel('Ada', 'Rear')).toBe('Picture of Ada: Rear');
});
