// WHEP (draft-ietf-wish-whep) with offers from the server: an empty POST
// returns its offer, a PATCH sends our answer. So the server controls ICE and
// can move the call between links.

import { ProblemError, problemOf, type Problem } from '../model/problem';
import { Store } from '../model/store';
import type { Publishing } from '../model/types';
import type { Env } from './env';
import { gathered, locate, PeerSession, type Attempt, type PeerState } from './peer';

const SDP = 'application/sdp';

/** Plays one participant, and reconnects after failures. */
export class Player {
  /** Received media, a stream for each camera in order, the first with the sound; keeps
   *  the last ones while new ones connect. */
  readonly streams = new Store<readonly MediaStream[]>([]);
  readonly #env: Env;
  readonly #url: string;
  readonly #headers: () => Record<string, string>;
  readonly #session: PeerSession;
  #incoming: readonly MediaStream[] = [];

  /** `headers` identify the player; without them it is a new participant each time. */
  constructor(env: Env, url: string, headers: () => Record<string, string> = () => ({})) {
    this.#env = env;
    this.#url = url;
    this.#headers = headers;
    this.#session = new PeerSession(env, (attempt) => this.#negotiate(attempt));
    this.#session.state.subscribe(() => {
      if (this.#session.state.value.kind === 'connected') this.streams.set(this.#incoming);
    });
  }

  get state(): Store<PeerState> {
    return this.#session.state;
  }

  /** Present connection, for its statistics. */
  get peer(): RTCPeerConnection | null {
    return this.#session.peer;
  }

  /** Tracks in the server's offer. */
  get received(): Publishing {
    const kinds = this.#incoming.flatMap((stream) => stream.getTracks()).map((track) => track.kind);
    const cameras = kinds.filter((kind) => kind === 'video').map(() => ({ name: null }));
    return { cameras, audio: kinds.includes('audio') };
  }

  start(): void {
    this.#session.start();
  }

  close(): void {
    this.#session.close();
  }

  /** The played participant has left: the server ended the connection. */
  drop(): void {
    this.#session.drop();
  }

  /** Groups the tracks, which have the order of the offer: cameras in order. */
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

  async #negotiate({ peer, current, created, signal }: Attempt): Promise<void> {
    const response = await this.#env.fetch(this.#url, { method: 'POST', headers: { accept: SDP, ...this.#headers() } });
    if (!response.ok) throw new ProblemError(await refusal(response));
    const location = response.headers.get('location');
    if (location === null) throw new ProblemError(noLocation);
    const resource = locate(location, this.#url);
    created(resource);
    const offer = await response.text();
    if (!current()) return;

    const tracks: MediaStreamTrack[] = [];
    peer.ontrack = (event) => tracks.push(event.track);
    await peer.setRemoteDescription({ type: 'offer', sdp: offer });
    const answer = await peer.createAnswer();
    const codec = withoutDecoder(offer, answer.sdp ?? '');
    if (codec !== null) throw new ProblemError(noDecoder(codec));
    await peer.setLocalDescription(answer);
    await gathered(peer, this.#env);
    if (!current()) return;
    this.#incoming = this.#inStreams(tracks);

    const answered = await this.#env.fetch(resource, {
      method: 'PATCH',
      headers: { 'content-type': SDP },
      body: peer.localDescription?.sdp ?? '',
      signal,
    });
    if (!answered.ok) throw new ProblemError(await refusal(answered));
  }
}

/** Treats a missing participant as temporary: the room decides who is played, not this class. */
async function refusal(response: Response): Promise<Problem> {
  const problem = await problemOf(response, 'send this picture');
  return response.status === 404 || response.status === 409 ? { ...problem, temporary: true } : problem;
}

/** Offered video codec that this browser rejects. */
export function withoutDecoder(offer: string, answer: string): string | null {
  if (!/^m=video 0 /m.test(answer)) return null;
  return /^a=rtpmap:\d+ (VP8|H264)\//m.exec(offer)?.[1] ?? null;
}

const noDecoder = (codec: string): Problem => ({
  error: `They send ${codec}, which this browser cannot show.`,
  remedy: 'Use another browser, or let them send the other codec (weft join --codec).',
  temporary: false,
});

const noLocation: Problem = {
  error: 'The server’s answer has no address for the connection.',
  remedy: 'A proxy may remove the Location header: configure it to keep it.',
  temporary: false,
};
