// WHIP (RFC 9725): the browser offers, the server answers.

import { ProblemError, problemOf } from '../model/problem';
import type { Store } from '../model/store';
import type { Env } from './env';
import { gathered, locate, PeerSession, type Attempt, type PeerState } from './peer';

const SDP = 'application/sdp';

/** Encodings of the camera, the smallest first: the server sends each viewer the one that
 *  fits its tile and its connection. Rates in bits per second; for the largest one, above
 *  the rate from which a 720p talking head in VP8 benefits. Chosen by us. */
const ENCODINGS = [
  { rid: 'q', scaleResolutionDownBy: 4, maxBitrate: 150_000 },
  { rid: 'h', scaleResolutionDownBy: 2, maxBitrate: 500_000 },
  { rid: 'f', scaleResolutionDownBy: 1, maxBitrate: 2_500_000 },
];

/** Three temporal layers, so that the server can thin the picture for a slow
 *  receiver (W3C webrtc-svc names). */
const SCALABILITY = 'L1T3';

export interface Tracks {
  readonly video: MediaStreamTrack | null;
  readonly audio: MediaStreamTrack | null;
}

/** Enabled media. */
export interface Publishing {
  readonly video: boolean;
  readonly audio: boolean;
}

/** Publishes one camera and one microphone, and reconnects after failures. */
export class Publisher {
  readonly #env: Env;
  readonly #url: () => string;
  readonly #proof: () => Record<string, string>;
  readonly #session: PeerSession;
  readonly #senders: { video: RTCRtpSender | null; audio: RTCRtpSender | null } = { video: null, audio: null };
  #tracks: Tracks = { video: null, audio: null };
  #told: Publishing | null = null;

  /** Both are called before every attempt: the URL has the participant's id, the headers prove it. */
  constructor(env: Env, url: () => string, proof: () => Record<string, string> = () => ({})) {
    this.#env = env;
    this.#url = url;
    this.#proof = proof;
    this.#session = new PeerSession(env, (attempt) => this.#negotiate(attempt));
    // A new connection does not know what was reported on the previous one.
    this.#session.state.subscribe(() => {
      if (this.#session.state.value.kind === 'connected') this.#tellServer();
    });
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

  close(): void {
    this.#session.close();
  }

  /** Replaces the tracks, without a new negotiation if possible. */
  async setTracks(tracks: Tracks): Promise<void> {
    const before = this.#tracks;
    this.#tracks = tracks;
    const missing = (['video', 'audio'] as const).some((kind) => tracks[kind] !== null && this.#senders[kind] === null);
    if (missing) {
      this.#session.start();
      return;
    }
    for (const kind of ['video', 'audio'] as const) {
      if (tracks[kind] !== before[kind]) await this.#senders[kind]?.replaceTrack(tracks[kind]);
    }
  }

  /** Reports the enabled media to the others, so that they need not guess from silence.
   *  A server without this interface answers 404, which is harmless. */
  tell(publishing: Publishing): void {
    this.#told = publishing;
    this.#tellServer();
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
    this.#senders.audio = addSender(peer, 'audio', this.#tracks.audio, this.#env);
    this.#senders.video = addSender(peer, 'video', this.#tracks.video, this.#env);
    await peer.setLocalDescription(await peer.createOffer());
    await gathered(peer, this.#env);
    if (!current()) return;

    const url = this.#url();
    const response = await this.#env.fetch(url, {
      method: 'POST',
      headers: { 'content-type': SDP, accept: SDP, ...this.#proof() },
      body: peer.localDescription?.sdp ?? '',
    });
    if (!response.ok) throw new ProblemError(await problemOf(response, 'take your picture and sound'));
    const location = response.headers.get('location');
    if (location !== null) created(locate(location, url));
    const answer = await response.text();
    if (!current()) return;
    await peer.setRemoteDescription({ type: 'answer', sdp: answer });
  }
}

function addSender(
  peer: RTCPeerConnection,
  kind: 'audio' | 'video',
  track: MediaStreamTrack | null,
  env: Env,
): RTCRtpSender | null {
  if (track === null) return null;
  if (kind === 'audio') return peer.addTransceiver(track, { direction: 'sendonly' }).sender;
  let transceiver: RTCRtpTransceiver;
  try {
    const sendEncodings = ENCODINGS.map((encoding) => ({ ...encoding, scalabilityMode: SCALABILITY }));
    transceiver = peer.addTransceiver(track, { direction: 'sendonly', sendEncodings });
  } catch {
    // A browser without temporal layers.
    transceiver = peer.addTransceiver(track, { direction: 'sendonly', sendEncodings: ENCODINGS });
  }
  const codecs = vp8First(env.videoCodecs());
  if (codecs.length > 0) transceiver.setCodecPreferences?.(codecs);
  return transceiver.sender;
}

/** Moves VP8 to the front and keeps the order of all others. */
export function vp8First<C extends { readonly mimeType: string }>(codecs: readonly C[]): C[] {
  const isVp8 = (codec: C): boolean => codec.mimeType.toLowerCase() === 'video/vp8';
  return [...codecs.filter(isVp8), ...codecs.filter((codec) => !isVp8(codec))];
}
