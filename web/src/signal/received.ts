// Media of the participants, as the lines of our connection carry it.

import { Store } from '../model/store';
import type { Line } from '../model/types';
import type { Env } from './env';

/** Picture of a camera as it arrives; another object each time another source or line begins. */
export interface ReceivedCamera {
  /** Stays the same while its tracks change. That of the first camera has the sound. */
  readonly stream: MediaStream;
  /** Track of the picture; null while none is sent. */
  readonly track: MediaStreamTrack | null;
  /** Whether the server sends no picture, because the connection is too slow for it. */
  readonly paused: boolean;
}

/** Media of a participant. */
export interface Received {
  /** By the camera's place; the first one exists also without a picture. */
  readonly cameras: ReadonlyMap<number, ReceivedCamera>;
  /** Receiver of the sound, for its level; null without sound. */
  readonly sound: RTCRtpReceiver | null;
}

/** Lines of one participant. */
interface Share {
  readonly cameras: Map<number, Line>;
  sound: Line | null;
}

/** Received media by participant. Only what a new list of lines changes is replaced. */
export class ReceivedMedia {
  readonly all = new Store<ReadonlyMap<string, Received>>(new Map());
  readonly #env: Env;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Takes all lines that carry something; those without a receiver yet are left out. */
  apply(lines: readonly Line[], receiverOf: (mid: string) => RTCRtpReceiver | null): void {
    const before = this.all.value;
    const after = new Map<string, Received>();
    for (const [participant, share] of byParticipant(lines)) {
      after.set(participant, this.#update(before.get(participant), share, receiverOf));
    }
    for (const [participant, { cameras }] of before) {
      if (!after.has(participant)) for (const { stream } of cameras.values()) setTracks(stream, []);
    }
    if (after.size !== before.size || [...after].some(([id, received]) => before.get(id) !== received)) this.all.set(after);
  }

  clear(): void {
    this.apply([], () => null);
  }

  /** Returns the same object if nothing changes for the participant. */
  #update(before: Received | undefined, share: Share, receiverOf: (mid: string) => RTCRtpReceiver | null): Received {
    const sound = share.sound === null ? null : receiverOf(share.sound.mid);
    const cameras = new Map<number, ReceivedCamera>();
    for (const place of new Set([0, ...share.cameras.keys()])) {
      const line = share.cameras.get(place);
      const track = line === undefined ? null : (receiverOf(line.mid)?.track ?? null);
      const paused = line?.paused ?? false;
      const earlier = before?.cameras.get(place);
      // Chromium never plays sound that is added to a stream without any track.
      const stream = earlier !== undefined && earlier.stream.getTracks().length > 0 ? earlier.stream : this.#env.newStream();
      setTracks(stream, [track, place === 0 ? (sound?.track ?? null) : null]);
      const same = earlier?.stream === stream && earlier.track === track && earlier.paused === paused;
      cameras.set(place, same ? earlier : { stream, track, paused });
    }
    for (const [place, { stream }] of before?.cameras ?? []) if (!cameras.has(place)) setTracks(stream, []);
    const same = before?.sound === sound && before.cameras.size === cameras.size && [...cameras].every(([place, each]) => before.cameras.get(place) === each);
    return same ? before : { cameras, sound };
  }
}

function byParticipant(lines: readonly Line[]): Map<string, Share> {
  const shares = new Map<string, Share>();
  for (const line of lines) {
    const share = shares.get(line.participant) ?? { cameras: new Map<number, Line>(), sound: null };
    shares.set(line.participant, share);
    if (line.camera === null) share.sound = line;
    else share.cameras.set(line.camera, line);
  }
  return shares;
}

/** Exchanges only what differs, so that the sound continues while a picture changes. */
function setTracks(stream: MediaStream, wanted: readonly (MediaStreamTrack | null)[]): void {
  for (const track of stream.getTracks()) if (!wanted.includes(track)) stream.removeTrack(track);
  for (const track of wanted) if (track !== null && !stream.getTracks().includes(track)) stream.addTrack(track);
}
