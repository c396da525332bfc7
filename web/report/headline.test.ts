import { describe, expect, it } from 'vitest';
import { AT_ONCE, foremost } from './headline';

const KEY = ['fps', 'freeze_s', 'loss'];
const MANY = ['throughput_mbps', 'loss', 'fps', ...Array.from({ length: AT_ONCE }, (_, index) => `other_${index}`), 'fps.call'];

describe('the foremost results', () => {
  it('are those that people ask first, in that order', () => {
    const [first, rest] = foremost(MANY, KEY);
    expect(first).toEqual(['fps', 'fps.call', 'loss']);
    expect(rest).toEqual(MANY.filter((name) => !first.includes(name)));
  });

  it('are all where few were asked for, or none is known', () => {
    const few = MANY.slice(0, AT_ONCE);
    expect(foremost(few, KEY)).toEqual([few, []]);
    expect(foremost(MANY, [])).toEqual([MANY, []]);
  });
});
