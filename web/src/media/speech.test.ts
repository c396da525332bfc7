import { expect, it } from 'vitest';
import { levelOf, SpeechMeter } from './speech';

it('hears speech, and no end of it between two words', () => {
  const meter = new SpeechMeter();
  expect(meter.at(0, null)).toBe(false);
  expect(meter.at(0, 0.01)).toBe(false);
  expect(meter.at(100, 0.2)).toBe(true);
  expect(meter.at(700, 0)).toBe(true);
  expect(meter.at(801, 0)).toBe(false);
});

const peer = (told: number | undefined, heard: number | undefined) =>
  ({
    getReceivers: () => [
      {
        track: { kind: 'audio' },
        getSynchronizationSources: () => [{ audioLevel: told }],
        getStats: () => Promise.resolve(new Map([['a', { type: 'inbound-rtp', audioLevel: heard }]])),
      },
    ],
  }) as unknown as RTCPeerConnection;

it.each([
  [0.5, 0.1, 0.5],
  [undefined, 0.1, 0.1],
  [undefined, undefined, null],
])('takes what the sender says before what is heard: %f, %f', async (told, heard, level) => {
  expect(await levelOf(peer(told, heard))).toBe(level);
});

it('knows no level without sound', async () => {
  expect(await levelOf({ getReceivers: () => [] })).toBeNull();
});
