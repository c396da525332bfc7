import { expect, it } from 'vitest';
import { levelOf, LISTEN_MS, SpeechMeter } from './speech';

const level = (of: number) => ({ level: of, packet: null });

it('hears speech, and no end of it between two words', () => {
  const meter = new SpeechMeter();
  expect(meter.at(0, null)).toBe(false);
  expect(meter.at(0, level(0.01))).toBe(false);
  expect(meter.at(100, level(0.2))).toBe(true);
  expect(meter.at(700, level(0))).toBe(true);
  expect(meter.at(801, level(0))).toBe(false);
});

it('hears short sounds twice a second wherever they begin', () => {
  for (let begin = 0; begin < 500; begin += 10) {
    const meter = new SpeechMeter();
    const heard: boolean[] = [];
    for (let now = 0; now < 5_000; now += LISTEN_MS) heard.push(meter.at(now, level((now + begin) % 500 < 70 ? 0.2 : 0)));
    expect(heard, `beginning at ${begin} ms`).toContain(true);
  }
});

it('hears a packet once, because browsers keep the last one for seconds', () => {
  const meter = new SpeechMeter();
  const loud = { level: 0.2, packet: 20 };
  expect(meter.at(0, loud)).toBe(true);
  expect(meter.at(600, loud)).toBe(true);
  expect(meter.at(710, loud)).toBe(false);
  expect(meter.at(820, { ...loud, packet: 40 })).toBe(true);
});

const receiver = (told: number | undefined, heard: number | undefined) => ({
  getSynchronizationSources: () => [{ audioLevel: told, timestamp: 7 }] as RTCRtpSynchronizationSource[],
  getStats: () => Promise.resolve(new Map([['a', { type: 'inbound-rtp', audioLevel: heard }]]) as unknown as RTCStatsReport),
});

it.each([
  [0.5, 0.1, { level: 0.5, packet: 7 }],
  [undefined, 0.1, { level: 0.1, packet: null }],
  [undefined, undefined, null],
])('takes what the sender says before what is heard: %f, %f', async (told, heard, level) => {
  expect(await levelOf(receiver(told, heard))).toEqual(level);
});

it('knows no level before a sound has come', async () => {
  const silent = { ...receiver(undefined, undefined), getSynchronizationSources: () => [] };
  expect(await levelOf(silent)).toBeNull();
});
