// WHIP (RFC 9725): the browser offers, the server answers.

import { ProblemError, problemOf } from '../model/problem';
import type { Store } from '../model/store';
import { readWanted } from '../model/types';
import type { Env } from './env';
import { gathered, locate, PeerSession, type Attempt, type PeerState } from './peer';

const SDP = 'application/sdp';

/** Encodings of the camera, the smallest first; the server sends each viewer the one that fits its
 *  tile and its connection. Rates in bits per second; the largest is above the rate from which a
 *  720p talking head in VP8 benefits. Chosen by us. */
const ENCODINGS = [
  { rid: 'q', scaleResolutionDownBy: 4, maxBitrate: 150_000 },
  { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 500_000 },
  { rid: 'f', scaleResolutionDownBy: 1, maxBitrate: 2_500_000 },
];

/** Encodings of a shared screen: text stays sharp at a low frame rate. The small one is for
 *  viewers with a poor connection. Chosen by us. */
const SCREEN_ENCODINGS = [
  { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 300_000, maxFramerate: 5 },
  { rid: 'f', scaleResolutionDownBy: 1, maxBitrate: 2_500_000, maxFramerate: 15 },
];

/** Three temporal layers, so that the server can thin the picture for a slow
 *  receiver (W3C webrtc-svc names). */
const SCALABILITY = 'L1T3';

export interface Tracks {
  readonly video: MediaStreamTrack | null;
  readonly audio: MediaStreamTrack | null;
  readonly screen: MediaStreamTrack | null;
}

/** Enabled media. */
export interface Publishing {
  readonly video: boolean;
  readonly audio: boolean;
  readonly screen: boolean;
}

const KINDS = ['audio', 'video', 'screen'] as const;

/** Publishes a camera, a microphone and a screen, and reconnects after failures. All three are
 *  negotiated in advance, so that a track can be added and removed without a new negotiation. */
export class Publisher {
  readonly #env: Env;
  readonly #url: () => string;
  readonly #proof: () => Record<string, string>;
  readonly #session: PeerSession;
  #senders: Partial<Record<keyof Tracks, RTCRtpSender>> = {};
  #tracks: Tracks = { video: null, audio: null, screen: null };
  #told: Publishing | null = null;
  /** Settled when the latest change of the encodings is complete. */
  #changed: Promise<void> = Promise.resolve();

  /** Both are called before every attempt: the URL contains the participant's id, the headers prove
   *  it. */
  constructor(env: Env, url: () => string, proof: () => Record<string, string> = () => ({})) {
    this.#env = env;
    this.#url = url;
    this.#proof = proof;
    this.#session = new PeerSession(env, (attempt) => this.#negotiate(attempt));
  }

  get state(): Store<PeerState> {
    return this.#session.state;
  }

  /** Sets the STUN and TURN servers of the next connections. */
  setIceServers(servers: readonly RTCIceServer[]): void {
    this.#session.iceServers = servers;
  }

  start(tracks: Tracks): void {
    this.#tracks = tracks;
    this.#session.start();
  }

  /** Reconnects with the same tracks, for example under a new id. */
  restart(): void {
    this.#session.start();
  }

  /** The server has ended the connection with this name. */
  onEnded(resource: string): void {
    this.#session.onEnded(resource);
  }

  close(): void {
    this.#session.close();
  }

  /** Replaces the tracks. */
  async setTracks(tracks: Tracks): Promise<void> {
    const before = this.#tracks;
    this.#tracks = tracks;
    for (const kind of KINDS) {
      if (tracks[kind] !== before[kind]) await this.#senders[kind]?.replaceTrack(tracks[kind]);
    }
  }

  /** Reports the enabled media to the others, so that they need not guess from silence.
   *  A server without this interface answers 404, which is harmless. */
  tell(publishing: Publishing): void {
    this.#told = publishing;
    this.#tellServer();
  }

  /** Handles the event `wanted` of the room: pauses the encodings that nobody watches. */
  onWanted(value: unknown): void {
    const { resource, cameras } = readWanted(value);
    if (this.#session.resource?.endsWith(`/${resource}`) !== true) return;
    const pictures = [this.#senders.video, this.#senders.screen];
    // One change at a time, because a browser refuses outdated parameters.
    this.#changed = this.#changed.then(async () => {
      for (const [place, wanted] of cameras.entries()) await setActive(pictures[place], wanted);
    });
  }

  #tellServer(): void {
    const resource = this.#session.resource;
    if (resource === null || this.#told === null) return;
    void this.#env
      .fetch(`${resource}/publishing`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(this.#told),
      })
      .catch(() => undefined);
  }

  async #negotiate({ peer, current, created }: Attempt): Promise<void> {
    const audio = peer.addTransceiver(this.#tracks.audio ?? 'audio', { direction: 'sendonly' });
    const video = addPictures(peer, this.#tracks.video, ENCODINGS, this.#env);
    const screen = addPictures(peer, this.#tracks.screen, SCREEN_ENCODINGS, this.#env);
    this.#senders = { audio: audio.sender, video: video.sender, screen: screen.sender };
    await peer.setLocalDescription(await peer.createOffer());
    await gathered(peer, this.#env);
    if (!current()) return;

    const url = this.#url();
    const response = await this.#env.fetch(url, {
      method: 'POST',
      headers: { 'content-type': SDP, accept: SDP, ...this.#proof() },
      body: withPresentation(peer.localDescription?.sdp ?? '', screen.mid),
    });
    if (!response.ok) throw new ProblemError(await problemOf(response, 'take your picture and sound'));
    const location = response.headers.get('location');
    if (location !== null) created(locate(location, url));
    // Before the connection is up, so that nobody sees a camera that is off. A new
    // connection does not know the reports of the previous one.
    if (current()) this.#tellServer();
    const answer = await response.text();
    if (!current()) return;
    await peer.setRemoteDescription({ type: 'answer', sdp: answer });
  }
}

/** Activates or deactivates the first encodings of the sender. */
export async function setActive(sender: RTCRtpSender | undefined, wanted: readonly boolean[]): Promise<void> {
  const parameters = sender?.getParameters();
  if (sender === undefined || parameters === undefined) return;
  const active = (place: number): boolean => wanted[place] ?? true;
  if (parameters.encodings.every((encoding, place) => encoding.active === active(place))) return;
  parameters.encodings.forEach((encoding, place) => (encoding.active = active(place)));
  // A browser that refuses sends more than necessary.
  await sender.setParameters(parameters).catch(() => undefined);
}

function addPictures(
  peer: RTCPeerConnection,
  track: MediaStreamTrack | null,
  encodings: readonly RTCRtpEncodingParameters[],
  env: Env,
): RTCRtpTransceiver {
  let transceiver: RTCRtpTransceiver;
  try {
    const sendEncodings = encodings.map((encoding) => ({ ...encoding, scalabilityMode: SCALABILITY }));
    transceiver = peer.addTransceiver(track ?? 'video', { direction: 'sendonly', sendEncodings });
  } catch {
    // For a browser without temporal layers.
    transceiver = peer.addTransceiver(track ?? 'video', { direction: 'sendonly', sendEncodings: [...encodings] });
  }
  const codecs = vp8First(env.videoCodecs());
  if (codecs.length > 0) transceiver.setCodecPreferences?.(codecs);
  return transceiver;
}

/** Marks the section with this id as a presentation (RFC 4796). */
export function withPresentation(sdp: string, mid: string | null): string {
  const sections = sdp.split(/^(?=m=)/m);
  const marked = sections.map((section) => (section.includes(`\na=mid:${mid}\r\n`) ? `${section}a=content:slides\r\n` : section));
  return marked.join('');
}

/** Moves VP8 to the front and keeps the order of the other codecs. */
export function vp8First<C extends { readonly mimeType: string }>(codecs: readonly C[]): C[] {
  const isVp8 = (codec: C): boolean => codec.mimeType.toLowerCase() === 'video/vp8';
  return [...codecs.filter(isVp8), ...codecs.filter((codec) => !isVp8(codec))];
}
