import { expect, it } from 'vitest';
import { levelOf, LISTEN_MS, SpeechMeter } from './speech';

it('hears speech, and no end of it between two words', () => {
  const meter = new SpeechMeter();
  expect(meter.at(0, null)).toBe(false);
  expect(meter.at(0, 0.01)).toBe(false);
  expect(meter.at(100, 0.2)).toBe(true);
  expect(meter.at(700, 0)).toBe(true);
  expect(meter.at(801, 0)).toBe(false);
});

it('hears short sounds twice a second wherever they begin', () => {
  for (let begin = 0; begin < 500; begin += 10) {
    const meter = new SpeechMeter();
    const heard: boolean[] = [];
    for (let now = 0; now < 5_000; now += LISTEN_MS) heard.push(meter.at(now, (now + begin) % 500 < 70 ? 0.2 : 0));
    expect(heard, `beginning at ${begin} ms`).toContain(true);
  }
});

const receiver = (told: number | undefined, heard: number | undefined) => ({
  getSynchronizationSources: () => [{ audioLevel: told }] as RTCRtpSynchronizationSource[],
  getStats: () => Promise.resolve(new Map([['a', { type: 'inbound-rtp', audioLevel: heard }]]) as unknown as RTCStatsReport),
});

it.each([
  [0.5, 0.1, 0.5],
  [undefined, 0.1, 0.1],
  [undefined, undefined, null],
])('takes what the sender says before what is heard: %f, %f', async (told, heard, level) => {
  expect(await levelOf(receiver(told, heard))).toBe(level);
});

it('knows no level before a sound has come', async () => {
  const silent = { ...receiver(undefined, undefined), getSynchronizationSources: () => [] };
  expect(await levelOf(silent)).toBeNull();
});
