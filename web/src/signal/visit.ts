// Our visit to a room: the session on our server, and its hand-over to another one. The page
// publishes and receives there before it leaves the former server, so that nobody sees a gap.

import { Store } from '../model/store';
import type { Destination } from '../model/types';
import { envAt, isSafe } from './elsewhere';
import type { Env } from './env';
import { Outbox } from './outbox';
import { personOf } from './presence';
import { ReceivedMedia } from './received';
import type { ViewedCamera } from './reception';
import { RoomSession } from './session';
import type { Publishing, Tracks } from './whip';

/** Time limit for connecting to the other server; otherwise we stay. Chosen by us: the time limit
 *  of a media connection. */
const MOVE_MS = 15_000;

/** Time limit for the others' first pictures from the new server, since some participants may send
 *  none. The same as in `weft join`. */
const PICTURES_MS = 3_000;

/** Time for which we keep publishing at the former server after everything comes from the new one;
 *  meanwhile the others' servers fetch the new publication. The same as in `weft join`. */
const OVERLAP_MS = 2_000;

/** Interval of checks whether everything comes from the new server, ms. */
const LOOK_MS = 100;

export class RoomVisit {
  readonly session: Store<RoomSession>;
  readonly media: ReceivedMedia;
  readonly outbox: Outbox;
  /** Origin of our server. */
  server: string;
  readonly #env: Env;
  readonly #room: string;
  readonly #name: string;
  /** Session that we move to or from. */
  #other: RoomSession | null = null;
  /** Whether requests to another server are being enabled. */
  #prepares = false;
  /** Number of times that we have left. */
  #departures = 0;
  #tracks: Tracks | null = null;
  #told: Publishing | null = null;
  #view: readonly ViewedCamera[] = [];
  #subscriptions: (() => void)[] = [];
  #cancelTimer = (): void => undefined;

  /** `page` is the origin that the page was loaded from. */
  constructor(env: Env, page: string, room: string, name: string) {
    this.#env = env;
    this.#room = room;
    this.#name = name;
    this.server = page;
    this.media = new ReceivedMedia(env);
    this.outbox = new Outbox(env, (text, key) => this.session.value.acts.say(text, key));
    this.session = new Store(new RoomSession(env, room, name, this.media));
    this.#follow(this.session.value);
  }

  join(): void {
    this.session.value.join();
  }

  /** Retries everything now, because the network may be back. */
  hurry(): void {
    this.session.value.hurry();
    this.#other?.hurry();
    this.outbox.hurry();
  }

  /** Publishes these tracks from now on. */
  async publish(tracks: Tracks): Promise<void> {
    this.#tracks = tracks;
    await Promise.all([this.session.value, this.#other].map((each) => each?.publish(tracks)));
  }

  /** Reports the enabled media to the others. */
  tell(publishing: Publishing): void {
    this.#told = publishing;
    this.session.value.publisher.tell(publishing);
    this.#other?.publisher.tell(publishing);
  }

  /** Sends the servers the cameras, by person, that are on our screen. */
  show(view: readonly ViewedCamera[]): void {
    this.#view = view;
    for (const session of [this.session.value, this.#other]) if (session !== null) this.#showTo(session);
  }

  /** The page is being left, and may return at once. */
  suspend(): void {
    this.session.value.suspend();
    this.leave();
  }

  leave(): void {
    this.#departures += 1;
    this.#settle();
    this.session.value.leave();
    this.outbox.close();
  }

  /** Each participant of the person has a camera of the tile. */
  #showTo(session: RoomSession): void {
    const presence = session.presence.value;
    const ids = [...presence.participants.keys()];
    session.reception.show(
      this.#view.flatMap((camera) => ids.filter((id) => personOf(presence, id) === camera.participant).map((participant) => ({ ...camera, participant }))),
    );
  }

  #follow(session: RoomSession): void {
    session.onMove = (to) => void this.#prepare(session, to);
    const presence = (): void => {
      this.#showTo(session);
      if (session !== this.session.value) return;
      this.media.setPresence(session.presence.value);
      const { chat } = session.presence.value;
      this.outbox.settle((id) => chat.some((message) => message.id === id));
    };
    session.presence.subscribe(presence);
    session.events.subscribe(() => {
      if (session.events.value.kind === 'open') this.outbox.hurry();
    });
  }

  async #prepare(session: RoomSession, to: Destination): Promise<void> {
    if (this.#prepares || this.#other !== null || !isSafe(to, this.server)) return;
    this.#prepares = true;
    const departures = this.#departures;
    const fetch = await this.#env.freshFetch();
    this.#prepares = false;
    if (departures === this.#departures && session === this.session.value) this.#move(envAt(this.#env, fetch, to), to);
  }

  #move(env: Env, to: Destination): void {
    const next = new RoomSession(env, this.#room, this.#name, this.media, this.session.value);
    this.#other = next;
    if (this.#told !== null) next.publisher.tell(this.#told);
    if (this.#tracks !== null) void next.publish(this.#tracks);
    this.#follow(next);
    this.#showTo(next);
    const look = (): void => this.#lookAt(next, to);
    const stores = [next.events, next.publisher.state, next.reception.state, next.waiting, next.presence];
    this.#subscriptions = stores.map((store: { subscribe: Store<unknown>['subscribe'] }) => store.subscribe(look));
    this.#cancelTimer = this.#env.after(MOVE_MS, () => this.#settle());
    next.join();
  }

  /** Moves as soon as the new server carries our media; stays if it cannot. */
  #lookAt(next: RoomSession, to: Destination): void {
    if (this.#other !== next) return;
    const states = [next.events.value.kind, next.publisher.state.value.kind, next.reception.state.value.kind];
    if (states.some((kind) => kind === 'waiting' || kind === 'failed')) return this.#settle();
    const isReceived = next.reception.state.value.kind === 'connected';
    const isPublished = this.#tracks === null || next.publisher.state.value.kind === 'connected';
    if (!next.waiting.value && (next.presence.value.self === null || !isReceived || !isPublished)) return;
    this.#unsubscribe();
    this.#other = this.session.value;
    this.server = to.url;
    this.session.set(next);
    this.media.setPresence(next.presence.value);
    this.#leaveWhenReceived(0);
  }

  #leaveWhenReceived(waited: number): void {
    const isDone = waited >= PICTURES_MS || this.media.isAllFrom(this.session.value.reception);
    this.#cancelTimer = isDone
      ? this.#env.after(OVERLAP_MS, () => this.#settle())
      : this.#env.after(LOOK_MS, () => this.#leaveWhenReceived(waited + LOOK_MS));
  }

  /** Leaves the other one of two servers. */
  #settle(): void {
    this.#unsubscribe();
    this.#other?.leave();
    this.#other = null;
  }

  #unsubscribe(): void {
    this.#cancelTimer();
    for (const end of this.#subscriptions) end();
    this.#subscriptions = [];
  }
}
