import { describe, expect, it } from 'vitest';
import { bounds, interval, niceStep, number, range, scaled, seconds, signed, unitOf } from './figures';

describe('figures', () => {
  it('shows three figures that matter', () => {
    expect([1234.5, 87.654, 3.14159, 0.1, 0.01234, 0.00012, 0].map(number)).toEqual(['1235', '87.7', '3.14', '0.1', '0.012', '0.00012', '0']);
    expect(number(-2.5)).toBe('−2.50');
    expect(number(null)).toBe('–');
    expect(signed(2)).toBe('+2');
  });

  it('tells shares in percent', () => {
    expect(scaled('loss', 0.02)).toBe(2);
    expect(unitOf('loss', '1')).toBe('%');
    expect(unitOf('jain_index', '1')).toBe('');
    expect(interval('loss', [0.01, 0.03])).toBe('[1, 3]');
    expect(interval('fps', [null, null])).toBe('');
  });

  it('tells ranges and bounds', () => {
    expect(range('loss', [0.01, 0.03])).toBe('1 to 3');
    expect(range('fps', [24, null])).toBe('at least 24');
    expect(range('fps', [null, 30])).toBe('at most 30');
  });

  it('tells long times in minutes', () => {
    expect([59.5, 180, 200].map(seconds)).toEqual(['59.5 s', '3 min', '3 min 20 s']);
  });

  it('bounds values with round ends, from zero unless that leaves most empty', () => {
    expect(bounds([3, 9.1])).toEqual([0, 10]);
    expect(bounds([23.1, 26.4])).toEqual([23, 27]);
    expect(bounds([4, 4])).toEqual([0, 8]);
    expect(bounds([29.9, 30])).toEqual([28, 32]);
    expect(bounds([-0.4, 0.3])).toEqual([-0.4, 0.4]);
    expect(bounds([])).toEqual([0, 1]);
    expect(niceStep(0.3)).toBe(0.5);
  });
});
