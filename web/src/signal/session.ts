// Our view of a room on one server: the event stream, our publisher, and the reception of
// the others.

import { Store } from '../model/store';
import { readEnded, readIceServers, readMove, readReaction, readWelcome, type Destination, type Reaction } from '../model/types';
import { invitation } from './access';
import { Acts } from './acts';
import type { Env } from './env';
import { leaveIdentity, proof, takeIdentity, type Identity } from './identity';
import { news, nobody, personOf, reduce, type Presence } from './presence';
import { ReceivedMedia } from './received';
import { Reception } from './reception';
import { EventStream, type StreamState } from './sse';
import { Publisher, type Tracks } from './whip';

/** The server sends a comment every 15 s; three missing ones mean a dead connection. */
const SILENCE_MS = 45_000;

/** Time for which a reaction is shown, ms. Chosen by us. */
const REACTION_MS = 4_000;

export class RoomSession {
  readonly presence: Store<Presence>;
  /** Latest change in words, for screen readers. */
  readonly said = new Store('');
  readonly publisher: Publisher;
  readonly reception: Reception;
  readonly acts: Acts;
  /** Whether we wait for admission. */
  readonly waiting = new Store(false);
  /** Latest reactions by person, each for a moment. */
  readonly reactions = new Store<ReadonlyMap<string, { readonly reaction: Reaction }>>(new Map());
  readonly #env: Env;
  readonly #room: string;
  readonly #name: string;
  /** Name that we chose during the call. */
  #chosen: string | null;
  readonly #events: EventStream;
  /** Called when the server asks us to move to another one. */
  onMove: (to: Destination) => void = () => undefined;
  /** Identity from an earlier page of this tab, or on our former server. */
  #before: Identity | null;
  #publishing: Tracks | null = null;
  /** Secret of our publication's identity, because a restarted server may assign the same id. */
  #publishedAs: string | null = null;

  /** `from` is our session on the former server. */
  constructor(env: Env, room: string, name: string, media = new ReceivedMedia(env), from: RoomSession | null = null) {
    this.#env = env;
    this.#room = room;
    this.#name = name;
    this.#before = from === null ? takeIdentity(env.storage, room) : from.#identity;
    this.#chosen = this.#before?.name ?? null;
    const { participants, persons, chat } = from?.presence.value ?? nobody;
    this.presence = new Store<Presence>({ ...nobody, participants, persons, chat });
    this.publisher = new Publisher(
      env,
      () => `/whip/${encodeURIComponent(room)}?${this.#participant()}`,
      () => proof(this.#identity),
    );
    this.reception = new Reception(
      env,
      () => `${this.#path('reception')}?${this.#participant()}`,
      () => proof(this.#identity),
      media,
    );
    this.acts = new Acts(
      env,
      (what) => `${this.#path(what)}?${this.#participant()}`,
      () => proof(this.#identity),
    );
    this.#events = new EventStream(env, {
      url: () => this.#eventsUrl(),
      headers: () => ({ ...proof(this.#identity), ...this.#read() }),
      onMessage: (event, value) => this.#onEvent(event, value),
      silenceMs: SILENCE_MS,
    });
  }

  get events(): Store<StreamState> {
    return this.#events.state;
  }

  join(): void {
    this.#events.open();
  }

  /** Retries everything now, because the network may be back. */
  hurry(): void {
    this.#events.open();
    if (this.publisher.state.value.kind === 'waiting') this.publisher.restart();
    if (this.reception.state.value.kind === 'waiting') this.reception.start();
  }

  /** Publishes these tracks from now on; before the welcome, as soon as it arrives. */
  async publish(tracks: Tracks): Promise<void> {
    this.#publishing = tracks;
    if (this.#publishedAs === null) this.#startPublishing();
    else await this.publisher.setTracks(tracks);
  }

  /** Creates an invitation link with this server's origin. */
  invite(origin: string, path: string): Promise<string> {
    return invitation(this.#env, origin, path, this.#room);
  }

  /** Changes our name, also for later connections. */
  async rename(name: string): Promise<void> {
    await this.acts.rename(name);
    this.#chosen = name;
  }

  /** The page is being left, and may return at once. */
  suspend(): void {
    const identity = this.#identity;
    if (identity !== null) leaveIdentity(this.#env.storage, this.#room, identity);
    this.leave();
  }

  leave(): void {
    this.#part();
    this.#before = null;
    this.#events.close();
    this.publisher.close();
    this.reception.close();
  }

  /** Reports that the page is being left, so that the others need not wait for its return. */
  #part(): void {
    const { self, secret } = this.presence.value;
    if (self === null || this.events.value.kind === 'closed') return;
    const url = `${this.#path('events')}?${new URLSearchParams({ id: self })}`;
    // keepalive: also while the page is being left. Without this request, the
    // server waits slightly longer.
    void this.#env.fetch(url, { method: 'DELETE', headers: proof({ secret }), keepalive: true }).catch(() => undefined);
  }

  get #identity(): Identity | null {
    const { self, secret } = this.presence.value;
    return self === null ? this.#before : { id: self, secret, name: this.#chosen };
  }

  #path(what: string): string {
    return `/api/rooms/${encodeURIComponent(this.#room)}/${what}`;
  }

  #participant(): URLSearchParams {
    return new URLSearchParams({ participant: this.#identity?.id ?? '' });
  }

  /** Header with the last message of the chat that we have. */
  #read(): Record<string, string> {
    const last = this.presence.value.chat.at(-1);
    return last === undefined ? {} : { 'last-event-id': last.id };
  }

  #eventsUrl(): string {
    const query = new URLSearchParams({ name: this.#chosen ?? this.#name });
    if (this.#identity !== null) query.set('id', this.#identity.id);
    return `${this.#path('events')}?${query}`;
  }

  #onEvent(event: string, value: unknown): void {
    if (event === 'reception' || event === 'offer') return this.reception.onEvent(value);
    if (event === 'wanted') return this.publisher.onWanted(value);
    if (event === 'ended') return this.#onEnded(value);
    if (event === 'reaction') return this.#onReaction(value);
    if (event === 'waiting') return this.#onWaiting(value);
    if (event === 'move') return this.#onMove(value);
    if (event === 'ice-servers') return this.#setIceServers(readIceServers(value));
    if (event === 'welcome') this.#setIceServers(readWelcome(value)?.iceServers ?? []);
    const before = this.presence.value;
    const after = reduce(before, event, value);
    if (after === before) return;
    this.presence.set(after);
    const sentences = news(before, after);
    if (sentences.length > 0) this.said.set(sentences.join(' '));
    if (event === 'welcome') this.waiting.set(false);
    if (event === 'welcome') this.#onWelcome(before.self !== null && after.secret === before.secret);
  }

  #onWaiting(value: unknown): void {
    const welcome = readWelcome(value);
    if (welcome === null) return;
    this.#before = { id: welcome.id, secret: welcome.secret, name: this.#chosen };
    this.presence.set({ ...this.presence.value, self: null, secret: '', participants: new Map() });
    this.waiting.set(true);
  }

  #onMove(value: unknown): void {
    const to = readMove(value);
    if (to !== null) this.onMove(to);
  }

  /** The server has ended a connection; reconnects before its silence shows. */
  #onEnded(value: unknown): void {
    const resource = readEnded(value);
    if (resource === null) return;
    this.publisher.onEnded(resource);
    this.reception.onEnded(resource);
  }

  #onReaction(value: unknown): void {
    const read = readReaction(value);
    if (read === null) return;
    const shown = { reaction: read.reaction };
    const person = personOf(this.presence.value, read.id);
    this.reactions.set(new Map(this.reactions.value).set(person, shown));
    this.#env.after(REACTION_MS, () => {
      // A later one has its own time.
      if (this.reactions.value.get(person) !== shown) return;
      const rest = new Map(this.reactions.value);
      rest.delete(person);
      this.reactions.set(rest);
    });
  }

  #setIceServers(servers: readonly RTCIceServer[]): void {
    this.publisher.setIceServers(servers);
    this.reception.setIceServers(servers);
  }

  #onWelcome(known: boolean): void {
    if (known) {
      // The server is back and still knows us: retry waiting requests now.
      this.hurry();
      this.reception.refresh();
    } else {
      // We are a new participant: the server was restarted or forgot us, and our
      // connections are gone.
      this.reception.startAgain();
    }
    this.#startPublishing();
  }

  /** Publishes under our present id, unless it already does. */
  #startPublishing(): void {
    const { self, secret } = this.presence.value;
    if (this.#publishing === null || self === null || secret === this.#publishedAs) return;
    const first = this.#publishedAs === null;
    this.#publishedAs = secret;
    if (first) this.publisher.start(this.#publishing);
    else this.publisher.restart();
  }
}
