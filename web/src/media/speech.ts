// Who speaks: from the level of their sound.

/** Speech from here on, 0 to 1: -30 dBov, as loud as a low voice close to a microphone. Chosen by us. */
const SPEECH = 0.0316;

/** Pauses between words are no silence, ms. Chosen by us. */
const HOLD_MS = 700;

/**
 * How often the level of somebody's sound is looked at, ms: within a syllable,
 * and no part of a half second, since a rhythm could hide in one. Chosen by us.
 */
export const LISTEN_MS = 110;

/** Turns levels into whether somebody speaks. */
export class SpeechMeter {
  #until = Number.NEGATIVE_INFINITY;

  /** `level` is 0 to 1, null where it is not known; `now` in ms of any steady clock. */
  at(now: number, level: number | null): boolean {
    if (level !== null && level >= SPEECH) this.#until = now + HOLD_MS;
    return now < this.#until;
  }
}

/** The level of the sound that is received: what its sender says (RFC 6464), else that of what is heard. */
export async function levelOf(peer: Pick<RTCPeerConnection, 'getReceivers'>): Promise<number | null> {
  const receiver = peer.getReceivers().find((each) => each.track.kind === 'audio');
  if (receiver === undefined) return null;
  const told = receiver.getSynchronizationSources()[0]?.audioLevel;
  if (told !== undefined) return told;
  for (const report of (await receiver.getStats()).values() as Iterable<{ type: string; audioLevel?: number }>) {
    if (report.type === 'inbound-rtp' && report.audioLevel !== undefined) return report.audioLevel;
  }
  return null;
}
