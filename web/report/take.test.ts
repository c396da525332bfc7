import { expect, it } from 'vitest';
import { csvOf, svgOf, type Taken } from './take';

const taken: Taken = {
  title: 'Rate',
  unit: 'Mbit/s',
  xUnit: 's',
  x: [0, 1, 2],
  lines: [{ name: 'a, <b>', values: [1, null, 4], colour: '#123456', dash: [] }],
  top: 2,
};

it('writes a row for each moment, empty where there is no value', () => {
  expect(csvOf(taken)).toBe('x_s,"a, <b> (Mbit/s)"\n0,1\n1,\n2,4\n');
});

it('draws a gap where there is none, nothing above the axis, and no markup of names', () => {
  const svg = svgOf(taken);
  const [path] = /<path d="(M52[^"H]*)" fill="none"/.exec(svg)?.slice(1) ?? [];
  expect(path).toBe('M52.0 142.0M708.0 28.0');
  expect(svg).toContain('a, &lt;b>');
});

it('takes the band of a line along', () => {
  const band = { lower: [0, null, 1], upper: [2, null, 2] };
  const banded = { ...taken, lines: taken.lines.map((line) => ({ ...line, name: 'a', band })) };
  expect(csvOf(banded)).toBe('x_s,a (Mbit/s),"a, lower (Mbit/s)","a, upper (Mbit/s)"\n0,1,0,2\n1,,,\n2,4,1,2\n');
  // There along the upper edge at the top, back along the lower one.
  expect(svgOf(banded)).toContain('<path d="M52.0 28.0L708.0 28.0L708.0 142.0L52.0 256.0Z" fill="#123456" fill-opacity');
});
