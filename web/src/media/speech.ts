// Speech detection from audio levels.

/** Threshold of speech, 0 to 1: -30 dBov, the level of a quiet voice close to a microphone. Chosen
 *  by us. */
const SPEECH = 0.0316;

/** Maximum pause between words, ms, that does not count as silence. Chosen by us. */
const HOLD_MS = 700;

/**
 * Polling interval of audio levels, ms: shorter than a syllable, and not a divisor of half a
 * second, in which a rhythm could hide. Chosen by us.
 */
export const LISTEN_MS = 110;

/** Audio level of a received sound. */
export interface Level {
  /** From 0 to 1. */
  readonly level: number;
  /** Time of the packet with the level, in ms of any clock; null if it was measured. */
  readonly packet: number | null;
}

/** Converts audio levels to a speaking state. */
export class SpeechMeter {
  #until = Number.NEGATIVE_INFINITY;
  #packet: number | null = null;

  /** Updates with a level, null if unknown; `now` is in ms of a monotonic clock. A packet counts
   *  once, because the server stops sending sounds that are not among the loudest. */
  at(now: number, heard: Level | null): boolean {
    const fresh = heard !== null && (heard.packet === null || heard.packet !== this.#packet);
    this.#packet = heard?.packet ?? null;
    if (fresh && heard.level >= SPEECH) this.#until = now + HOLD_MS;
    return now < this.#until;
  }
}

/** Returns the audio level of the received sound: as reported by its sender (RFC 6464), otherwise
 *  measured. */
export async function levelOf(sound: Pick<RTCRtpReceiver, 'getSynchronizationSources' | 'getStats'>): Promise<Level | null> {
  const [told] = sound.getSynchronizationSources();
  if (told?.audioLevel !== undefined) return { level: told.audioLevel, packet: told.timestamp };
  for (const report of (await sound.getStats()).values() as Iterable<{ type: string; audioLevel?: number }>) {
    if (report.type === 'inbound-rtp' && report.audioLevel !== undefined) return { level: report.audioLevel, packet: null };
  }
  return null;
}
