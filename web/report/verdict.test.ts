import { expect, it } from 'vitest';
import type { Data } from './data';
import { verdictOf } from './verdict';

type Values = Record<string, { goodput_mbps?: readonly (number | null)[]; freeze_s?: readonly (number | null)[] }>;
const data = (values: Values, baseline: string | null = null, differences: readonly object[] = []): Data =>
  ({
    scenario: { duration_s: 60, measure_from_s: 0, baseline },
    systems: Object.keys(values).map((name) => ({ name, system: name, case: [] })),
    values,
    differences,
  }) as unknown as Data;

it('compares with the best single link of each metric, seed by seed', () => {
  const values = {
    'webrtc@wifi': { goodput_mbps: [5, 5], freeze_s: [10, 20] },
    'webrtc@lte': { goodput_mbps: [4, 4], freeze_s: [0, 0] },
    weft: { goodput_mbps: [9, 10], freeze_s: [0.2, 0.6] },
  };
  expect(verdictOf(data(values))).toEqual([
    'weft carried 1.9 times what the best single link (webrtc@wifi) did: more in 2 of 2 seeds.',
    'weft stood still for 0.4 s of 60, the best single link (webrtc@lte) never: weft longer in 2 of 2 seeds.',
  ]);
});

it('says what may be chance', () => {
  const values = { 'webrtc@wifi': { goodput_mbps: [4, 4, 4], freeze_s: [0, 0, 2] }, weft: { goodput_mbps: [4, 4, 7], freeze_s: [0, 0, 0] } };
  const found = (verdict: string) => ['goodput_mbps', 'freeze_s'].map((metric) => ({ system: 'weft', baseline: 'webrtc@wifi', metric, verdict }));
  const said = ['weft carried 1.3 times what webrtc@wifi did: more in 1 of 3 seeds', 'weft never stood still, webrtc@wifi for 0.67 s of 60: weft shorter in 1 of 3 seeds'];
  expect(verdictOf(data(values, null, found('unclear')))).toEqual(said.map((each) => `${each}, which may be chance.`));
  expect(verdictOf(data(values, null, found('better')))).toEqual(said.map((each) => `${each}.`));
});

it('says where the subject loses, and where both are the same', () => {
  const values = {
    'webrtc@wifi': { goodput_mbps: [5, null, 5], freeze_s: [0, 0, 0] },
    weft: { goodput_mbps: [2, 9, 3], freeze_s: [0, 0, 0] },
  };
  expect(verdictOf(data(values))).toEqual(['weft carried 0.5 times what webrtc@wifi did: less in 2 of 2 seeds.', 'Neither weft nor webrtc@wifi ever stood still.']);
});

it('takes the baseline where there is no single link, and says nothing of a system alone', () => {
  const values = { codel: { goodput_mbps: [4] }, fifo: { goodput_mbps: [4.1] } };
  expect(verdictOf(data(values, 'fifo'))).toEqual(['codel carried as much as fifo did: 4 Mbit/s.']);
  expect(verdictOf(data(values, null, [{ system: 'fifo', baseline: 'codel', metric: 'goodput_mbps' }]))).toEqual(['fifo carried as much as codel did: 4.10 Mbit/s.']);
  expect(verdictOf(data({ weft: { goodput_mbps: [4] } }))).toEqual([]);
});

it('says of two folders what the second changes of the call over all links', () => {
  const values = {
    'webrtc@lte · old': { goodput_mbps: [4, 4] },
    'weft · old': { goodput_mbps: [5, 5], freeze_s: [1, 3] },
    'webrtc@lte · new': { goodput_mbps: [4, 4] },
    'weft · new': { goodput_mbps: [6, 6], freeze_s: [0, 0] },
  };
  const differences = ['webrtc@lte', 'weft'].map((name) => ({ system: `${name} · new`, baseline: `${name} · old`, metric: 'goodput_mbps' }));
  expect(verdictOf({ ...data(values, null, differences), sides: [] })).toEqual([
    'weft · new carried 1.2 times what weft · old did: more in 2 of 2 seeds.',
    'weft · new never stood still, weft · old for 2 s of 60: weft · new shorter in 2 of 2 seeds.',
  ]);
});
