// Reception: everything that we receive in a room, over one connection. The server offers
// a pool of lines (media sections) and reports whose camera or sound each of them
// carries: docs/protocol/http.md, "Reception".

import { ProblemError, problemFrom, problemOf } from '../model/problem';
import { Store } from '../model/store';
import { readReception, type Line, type ReceptionNews } from '../model/types';
import { Backoff } from './backoff';
import type { Env } from './env';
import { requestOffer, sendAnswer, withoutDecoder } from './offers';
import { gathered, PeerSession, type Attempt, type PeerState } from './peer';
import { ReceivedMedia, type Received } from './received';

/** Time for the tiles to settle, for example while a window is resized. Chosen by us: short
 *  compared with the time to the first picture of a camera. */
const SETTLE_MS = 100;

/** Camera on our screen, with the size of its tile in physical pixels. */
export interface ViewedCamera {
  readonly participant: string;
  readonly camera: number;
  readonly width: number;
  readonly height: number;
}

/** Connection that is negotiated or being negotiated. */
interface Connection {
  readonly attempt: Attempt;
  /** URL on the server; null until it has answered. */
  resource: string | null;
  /** All lines that carry media. */
  lines: readonly Line[];
  /** Latest offer after the first one. */
  latest: string | null;
  /** Offer to answer next. */
  waiting: string | null;
  answering: boolean;
  /** Whether a first offer has been answered. */
  answered: boolean;
  /** Whether a transport has worked. */
  connected: boolean;
  view: 'settled' | 'sending' | 'sending, outdated';
  /** Whether an event changed the lines while a view was in flight. */
  overtaken: boolean;
}

export class Reception {
  /** Codec of a camera that this browser cannot show; null if none is known. */
  readonly missingCodec = new Store<string | null>(null);
  readonly #env: Env;
  readonly #url: () => string;
  readonly #proof: () => Record<string, string>;
  readonly #session: PeerSession;
  readonly #media: ReceivedMedia;
  readonly #backoff = new Backoff();
  #connection: Connection | null = null;
  /** Events that arrived before the answer with the connection's URL. */
  #early: ReceptionNews[] = [];
  #view: readonly ViewedCamera[] | null = null;
  #cancelTimer = (): void => undefined;

  /** `url` and `proof` are called before every attempt: the URL contains our id, the headers prove
   *  it. */
  constructor(env: Env, url: () => string, proof: () => Record<string, string>, media = new ReceivedMedia(env)) {
    this.#env = env;
    this.#url = url;
    this.#proof = proof;
    this.#media = media;
    this.#session = new PeerSession(env, (attempt) => this.#negotiate(attempt));
    this.#session.state.subscribe(() => {
      if (this.#connection === null || this.state.value.kind !== 'connected') return;
      this.#connection.connected = true;
      this.#apply(this.#connection);
    });
  }

  get state(): Store<PeerState> {
    return this.#session.state;
  }

  /** Sets the STUN and TURN servers of the next connections. */
  setIceServers(servers: readonly RTCIceServer[]): void {
    this.#session.iceServers = servers;
  }

  /** Media by person; keeps the last ones while a new connection is made. */
  get media(): Store<ReadonlyMap<string, Received>> {
    return this.#media.all;
  }

  /** Starts, or restarts after abandoning the present connection. */
  start(): void {
    this.#session.start();
  }

  /** Starts under a new identity, without the media received under the old one. */
  startAgain(): void {
    this.#media.drop(this);
    this.start();
  }

  close(): void {
    this.#cancelTimer();
    this.#connection = null;
    this.#session.close();
    this.#media.drop(this);
  }

  /** Sends the server the cameras on our screen, the most important one first. */
  show(cameras: readonly ViewedCamera[]): void {
    if (JSON.stringify(cameras) === JSON.stringify(this.#view)) return;
    this.#view = cameras;
    this.#arm(SETTLE_MS);
  }

  /** Repeats the view; its answer contains changes that we have missed. */
  refresh(): void {
    this.#arm(0);
  }

  /** The server has ended the connection with this name. */
  onEnded(resource: string): void {
    this.#session.onEnded(resource);
  }

  /** Handles the events `reception` and `offer` of the room. */
  onEvent(value: unknown): void {
    const news = readReception(value);
    const connection = this.#connection;
    if (connection === null || !connection.attempt.current()) return;
    if (connection.resource === null) {
      this.#early = [...this.#early.filter((each) => each.resource === news.resource), news];
    } else if (connection.resource.endsWith(`/${news.resource}`)) {
      if (news.lines !== null) connection.overtaken = true;
      this.#take(connection, news);
    }
  }

  async #negotiate(attempt: Attempt): Promise<void> {
    const connection: Connection = {
      attempt,
      resource: null,
      lines: [],
      latest: null,
      waiting: null,
      answering: false,
      answered: false,
      connected: false,
      view: 'settled',
      overtaken: false,
    };
    this.#connection = connection;
    this.#early = [];
    this.missingCodec.set(null);
    const { resource, sdp } = await requestOffer(this.#env, this.#url(), this.#proof(), attempt);
    if (!attempt.current()) return;
    connection.resource = resource;
    connection.answering = true;
    for (const news of this.#early) if (resource.endsWith(`/${news.resource}`)) this.#take(connection, news);
    await this.#describe(connection, sdp);
    if (!attempt.current()) return;
    await sendAnswer(this.#env, resource, attempt);
    connection.answering = false;
    connection.answered = true;
    this.#arm(0);
    void this.#answerWaiting(connection);
  }

  #take(connection: Connection, { lines, offer }: Omit<ReceptionNews, 'resource'>): void {
    if (lines !== null) {
      connection.lines = lines;
      this.#apply(connection);
    }
    if (offer === null || offer === connection.latest) return;
    connection.latest = offer;
    connection.waiting = offer;
    void this.#answerWaiting(connection);
  }

  /** Answers the waiting offer; if others arrive in the meantime, only the last one counts. */
  async #answerWaiting(connection: Connection): Promise<void> {
    const { attempt, resource } = connection;
    if (connection.answering || resource === null) return;
    connection.answering = true;
    while (connection.waiting !== null && attempt.current()) {
      const offer = connection.waiting;
      connection.waiting = null;
      try {
        await this.#describe(connection, offer);
      } catch (thrown) {
        if (attempt.current()) this.#session.fail(thrown);
        return;
      }
      if (!attempt.current()) return;
      this.#apply(connection);
      try {
        await sendAnswer(this.#env, resource, attempt);
        this.#backoff.reset();
      } catch {
        // Lost or too late; the answer to the next view contains the valid offer.
        if (connection.latest === offer) connection.latest = null;
        if (attempt.current()) this.#arm(this.#backoff.next());
      }
    }
    connection.answering = false;
  }

  async #describe({ attempt: { peer } }: Connection, offer: string): Promise<void> {
    await peer.setRemoteDescription({ type: 'offer', sdp: offer });
    const answer = await peer.createAnswer();
    const codec = withoutDecoder(offer, answer.sdp ?? '');
    if (codec !== null) this.missingCodec.set(codec);
    await peer.setLocalDescription(answer);
    await gathered(peer, this.#env);
  }

  /** Updates the media once a transport works; until then, those of the last connection remain. */
  #apply({ attempt: { peer }, connected, lines }: Connection): void {
    if (!connected) return;
    const receivers = new Map(peer.getTransceivers().map(({ mid, receiver }) => [mid, receiver]));
    this.#media.apply(this, lines, (mid) => receivers.get(mid) ?? null);
  }

  #arm(ms: number): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#env.after(ms, () => void this.#sendView());
  }

  /** Sends the whole view, one request at a time, so that none overtakes another. */
  async #sendView(): Promise<void> {
    const connection = this.#connection;
    if (connection === null || !connection.answered || !connection.attempt.current() || this.#view === null) return;
    if (connection.view !== 'settled') {
      connection.view = 'sending, outdated';
      return;
    }
    connection.view = 'sending';
    connection.overtaken = false;
    const retry = await this.#exchange(connection, this.#view);
    const outdated = (connection.view as Connection['view']) === 'sending, outdated';
    connection.view = 'settled';
    if (!connection.attempt.current()) return;
    if (outdated) this.#arm(0);
    else if (retry) this.#arm(this.#backoff.next());
    else if (!connection.answering) this.#backoff.reset();
  }

  /** Returns whether to retry. */
  async #exchange(connection: Connection, cameras: readonly ViewedCamera[]): Promise<boolean> {
    try {
      const response = await this.#env.fetch(`${connection.resource}/view`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ cameras }),
        signal: connection.attempt.signal,
      });
      if (!response.ok) throw new ProblemError(await problemOf(response, 'send what is on your screen'));
      const { lines, offer } = readReception(await response.json());
      if (!connection.attempt.current()) return false;
      // The event's lines may be older or newer than these, so they are requested again.
      const disputed = connection.overtaken && JSON.stringify(lines) !== JSON.stringify(connection.lines);
      this.#take(connection, { lines: disputed ? null : lines, offer });
      return disputed;
    } catch (thrown) {
      return problemFrom(thrown).temporary;
    }
  }
}
