import { describe, expect, it } from 'vitest';
import type { Column, Series } from './data';
import { controlled, insideOf, nameOf, stateOf } from './inside';

function column(name: string, of: string, unit: string): Column {
  return { name, of, unit, values: [1, null] };
}

const series: Series = {
  t: [0.2, 0.4],
  columns: [
    column('rate_mbps', 'call', 'Mbit/s'),
    { ...column('cc_state', 'call@wifi', '1'), words: ['hold', 'increase'] },
    column('cc_trend', 'call@wifi', 'ms'),
    column('cc_loss', 'call@wifi', '1'),
    column('cc_link_capacity', 'call@wifi', 'Mbit/s'),
    column('cc_threshold', 'call@wifi', 'ms'),
    column('cc_turns', 'call@wifi', 'rad'),
    { ...column('cc_state', 'caller', '1'), words: ['hold'] },
    column('rate_mbps', 'tcp', 'Mbit/s'),
  ],
};

describe('what is inside controllers', () => {
  it('is found for the flows that have one, path by path', () => {
    expect(controlled(series, ['call', 'tcp'])).toEqual([{ flow: 'call', of: 'call@wifi' }]);
    expect(controlled(series, ['caller'])).toEqual([{ flow: 'caller', of: 'caller' }]);
    expect(stateOf(series, 'call@wifi')?.words).toEqual(['hold', 'increase']);
  });

  it('is grouped by unit, in a fixed order, the state apart', () => {
    const groups = insideOf(series, 'call@wifi').map((group) => [group.unit, group.columns.map(nameOf)]);
    expect(groups).toEqual([
      ['ms', ['trend', 'threshold']],
      ['Mbit/s', ['link capacity']],
      ['1', ['loss']],
      ['rad', ['turns']],
    ]);
  });
});
