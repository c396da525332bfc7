// Speech detection from audio levels.

/** Threshold of speech, 0 to 1: -30 dBov, the level of a low voice close to a microphone. Chosen by us. */
const SPEECH = 0.0316;

/** Pauses between words that do not count as silence, ms. Chosen by us. */
const HOLD_MS = 700;

/**
 * Polling interval of audio levels, ms: within a syllable, and not a divisor of
 * half a second, in which a rhythm could hide. Chosen by us.
 */
export const LISTEN_MS = 110;

/** Turns audio levels into a speaking state. */
export class SpeechMeter {
  #until = Number.NEGATIVE_INFINITY;

  /** Updates with a `level` of 0 to 1, null if unknown; `now` in ms of a monotonic clock. */
  at(now: number, level: number | null): boolean {
    if (level !== null && level >= SPEECH) this.#until = now + HOLD_MS;
    return now < this.#until;
  }
}

/** Audio level of the received sound: as reported by its sender (RFC 6464), otherwise measured. */
export async function levelOf(sound: Pick<RTCRtpReceiver, 'getSynchronizationSources' | 'getStats'>): Promise<number | null> {
  const told = sound.getSynchronizationSources()[0]?.audioLevel;
  if (told !== undefined) return told;
  for (const report of (await sound.getStats()).values() as Iterable<{ type: string; audioLevel?: number }>) {
    if (report.type === 'inbound-rtp' && report.audioLevel !== undefined) return report.audioLevel;
  }
  return null;
}
