import { expect, it } from 'vitest';
import { clock, fps, hue, initials, mbps, megabytes, ms, percent, seconds, size } from './format';

it.each([
  [mbps(0.54), '0.5 Mbps'],
  [mbps(12.3), '12 Mbps'],
  [mbps(null), '–'],
  [megabytes(1960), '2.0 GB'],
  [megabytes(999.4), '999 MB'],
  [ms(20.6), '21 ms'],
  [seconds(0), '0.0 s'],
  [percent(0.0123), '1.2 %'],
  [percent(1), '100 %'],
  [percent(0), '0 %'],
  [fps(29.7), '30 fps'],
  [size(960, 540), '960×540'],
  [size(960, null), '–'],
  [clock(125.9), '2:05'],
  [initials('Ada King Lovelace'), 'AL'],
  [initials('rover'), 'R'],
  [initials('  '), '?'],
  [initials('Person 1'), 'P1'],
  [initials('Person 10'), 'P10'],
  [initials('Rover-2024'), 'R024'],
  [initials('7'), '7'],
])('%s is %s', (formatted, expected) => {
  expect(formatted).toBe(expected);
});

it('gives a name the same hue each time, and people with the same initials different ones', () => {
  expect(hue('Ada Lovelace')).toBe(hue('Ada Lovelace'));
  const hues = ['Ada Lovelace', 'Al Low', 'Anna Lind', 'Amir Lahlou'].map(hue);
  expect(new Set(hues).size).toBeGreaterThan(2);
  for (const each of hues) expect(each % 30).toBe(0);
});
