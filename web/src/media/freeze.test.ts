import { expect, it } from 'vitest';
import { FreezeMeter } from './freeze';

/** Sends frames every `step` ms from `from`; returns the time of the last. */
function run(meter: FreezeMeter, from: number, count: number, step: number): number {
  for (let frame = 0; frame < count; frame += 1) meter.onFrame(from + frame * step);
  return from + (count - 1) * step;
}

it('takes a gap of mean plus 150 ms for a freeze, and nothing shorter', () => {
  // 40 ms between frames: max(3 · 40, 40 + 150) = 190.
  const meter = new FreezeMeter();
  const last = run(meter, 0, 31, 40);
  expect(meter.at(last + 189).frozen).toBe(false);
  expect(meter.at(last + 190)).toMatchObject({ frozen: true, forMs: 190, totalMs: 190, count: 1 });
  meter.onFrame(last + 189);
  expect(meter.at(last + 189)).toMatchObject({ frozen: false, totalMs: 0, count: 0 });
});

it('takes three mean intervals where these are longer', () => {
  // 100 ms between frames: max(300, 250) = 300.
  const meter = new FreezeMeter();
  const last = run(meter, 0, 31, 100);
  expect(meter.at(last + 299).frozen).toBe(false);
  expect(meter.at(last + 300).frozen).toBe(true);
});

it('adds up freezes that are over and the one that lasts', () => {
  const meter = new FreezeMeter();
  let last = run(meter, 0, 31, 33);
  meter.onFrame(last + 12_000);
  expect(meter.at(last + 12_000)).toMatchObject({ frozen: false, forMs: 0, totalMs: 12_000, count: 1 });
  last = run(meter, last + 12_033, 10, 33);
  expect(meter.at(last + 500)).toMatchObject({ frozen: true, forMs: 500, totalMs: 12_500, count: 2 });
});

it('does not let a freeze make the next one longer', () => {
  const meter = new FreezeMeter();
  let last = run(meter, 0, 31, 40);
  last = run(meter, last + 10_000, 2, 40);
  expect(meter.at(last + 190).frozen).toBe(true);
});

it('counts the frames of the last second', () => {
  const meter = new FreezeMeter();
  const last = run(meter, 0, 60, 40);
  expect(meter.at(last).fps).toBe(25);
  expect(meter.at(last + 500).fps).toBe(13);
  expect(meter.at(last + 1_000).fps).toBe(0);
});

it('takes a hidden page for no freeze, and remembers those before', () => {
  const meter = new FreezeMeter();
  const last = run(meter, 0, 31, 40);
  meter.onFrame(last + 1_000);
  meter.interrupt();
  expect(meter.at(last + 60_000)).toMatchObject({ seen: true, frozen: false, totalMs: 1_000 });
  meter.onFrame(last + 60_000);
  expect(meter.at(last + 60_040)).toMatchObject({ totalMs: 1_000, count: 1 });
});

it('is not frozen before the first frame', () => {
  const meter = new FreezeMeter();
  expect(meter.at(60_000)).toMatchObject({ seen: false, frozen: false, fps: 0 });
});
