// WHEP (draft-ietf-wish-whep) with offers from the server.

import { ProblemError } from '../model/problem';
import { Store } from '../model/store';
import type { Env } from './env';
import type { Kind } from '../media/devices';
import { noDecoder, requestOffer, sendAnswer, takers, withoutDecoder } from './offers';
import { gathered, PeerSession, type Attempt, type PeerState } from './peer';
import { setActive } from './whip';

/** Plays one sender, such as that of `weft call`, sends back the media that its offer accepts, and
 *  reconnects after failures. */
export class Player {
  /** Received media: a stream for each camera in order, the first one with the sound. Keeps the
   *  last ones while new ones connect. */
  readonly streams = new Store<readonly MediaStream[]>([]);
  readonly #env: Env;
  readonly #url: string;
  readonly #session: PeerSession;
  #incoming: readonly MediaStream[] = [];
  readonly #own: Record<Kind, MediaStreamTrack | null> = { audio: null, video: null };
  #senders: Partial<Record<Kind, RTCRtpSender>> = {};

  constructor(env: Env, url: string) {
    this.#env = env;
    this.#url = url;
    this.#session = new PeerSession(env, (attempt) => this.#negotiate(attempt));
    this.#session.state.subscribe(() => {
      if (this.#session.state.value.kind === 'connected') this.streams.set(this.#incoming);
    });
  }

  get state(): Store<PeerState> {
    return this.#session.state;
  }

  start(): void {
    this.#session.start();
  }

  close(): void {
    this.#session.close();
  }

  /** Sends this track from now on, or none, if the offer accepts its kind. */
  async send(kind: Kind, track: MediaStreamTrack | null): Promise<void> {
    this.#own[kind] = track;
    const sender = this.#senders[kind];
    await sender?.replaceTrack(track);
    // Without a track, Firefox repeats the last picture.
    await setActive(sender, [track !== null]);
  }

  /** Uses the sections of the offer for our own tracks. */
  async #sendBack(peer: RTCPeerConnection, offer: string): Promise<void> {
    const taking = takers(offer);
    this.#senders = {};
    for (const transceiver of peer.getTransceivers()) {
      const kind = taking.get(transceiver.mid ?? '');
      if (kind === undefined) continue;
      transceiver.direction = 'sendonly';
      this.#senders[kind] = transceiver.sender;
      await transceiver.sender.replaceTrack(this.#own[kind]);
    }
  }

  /** Groups the tracks, which are in the order of the offer: cameras in order. */
  #inStreams(tracks: readonly MediaStreamTrack[]): MediaStream[] {
    const pictures = tracks.filter((track) => track.kind === 'video');
    const sound = tracks.filter((track) => track.kind === 'audio');
    return Array.from({ length: Math.max(pictures.length, 1) }, (_, place) => {
      const stream = this.#env.newStream();
      const own = pictures.slice(place, place + 1);
      for (const track of place === 0 ? [...own, ...sound] : own) stream.addTrack(track);
      return stream;
    });
  }

  async #negotiate(attempt: Attempt): Promise<void> {
    const { peer, current } = attempt;
    const { resource, sdp } = await requestOffer(this.#env, this.#url, {}, attempt);
    if (!current()) return;

    const tracks: MediaStreamTrack[] = [];
    peer.ontrack = (event) => tracks.push(event.track);
    await peer.setRemoteDescription({ type: 'offer', sdp });
    await this.#sendBack(peer, sdp);
    const answer = await peer.createAnswer();
    const codec = withoutDecoder(sdp, answer.sdp ?? '');
    if (codec !== null) throw new ProblemError(noDecoder(codec));
    await peer.setLocalDescription(answer);
    await gathered(peer, this.#env);
    if (!current()) return;
    this.#incoming = this.#inStreams(tracks);
    await sendAnswer(this.#env, resource, attempt);
  }
}
