// A room from inside: the event stream, our publisher, and one player for
// everybody who publishes.

import { Store } from '../model/store';
import type { Participant } from '../model/types';
import type { Env } from './env';
import { leaveIdentity, proof, takeIdentity, type Identity } from './identity';
import { news, nobody, others, reduce, type Presence } from './presence';
import { EventStream, type StreamState } from './sse';
import { Player } from './whep';
import { Publisher, type Tracks } from './whip';

/** The server sends a comment every 15 s; three missing ones mean a dead connection. */
const SILENCE_MS = 45_000;

export class RoomSession {
  readonly presence = new Store<Presence>(nobody);
  readonly players = new Store<ReadonlyMap<string, Player>>(new Map());
  /** The latest change in words, for screen readers. */
  readonly said = new Store('');
  readonly publisher: Publisher;
  readonly #env: Env;
  readonly #room: string;
  readonly #name: string;
  readonly #events: EventStream;
  /** Who an earlier page of this tab was. */
  #before: Identity | null;
  #publishing: Tracks | null = null;
  /** The secret of who we publish as: a server that was started again may give the same id. */
  #publishedAs: string | null = null;

  constructor(env: Env, room: string, name: string) {
    this.#env = env;
    this.#room = room;
    this.#name = name;
    this.#before = takeIdentity(env.storage, room);
    this.publisher = new Publisher(
      env,
      () => `${this.#path('whip')}?participant=${encodeURIComponent(this.#identity?.id ?? '')}`,
      () => proof(this.#identity),
    );
    this.#events = new EventStream(env, {
      url: () => this.#eventsUrl(),
      headers: () => proof(this.#identity),
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

  /** Does now what would be tried again later: the network may be back. */
  hurry(): void {
    this.#events.open();
    for (const each of [...this.players.value.values(), this.publisher]) {
      if (each.state.value.kind === 'waiting') 'restart' in each ? each.restart() : each.start();
    }
  }

  /** Publishes these from now on; before the welcome, as soon as it comes. */
  async publish(tracks: Tracks): Promise<void> {
    this.#publishing = tracks;
    if (this.#publishedAs === null) this.#startPublishing();
    else await this.publisher.setTracks(tracks);
  }

  /** The page goes away, and may be back at once. */
  suspend(): void {
    const identity = this.#identity;
    if (identity !== null) leaveIdentity(this.#env.storage, this.#room, identity);
    this.leave();
  }

  leave(): void {
    this.#before = null;
    this.#events.close();
    this.publisher.close();
    this.#closePlayers();
  }

  #closePlayers(): void {
    for (const player of this.players.value.values()) player.close();
    this.players.set(new Map());
  }

  get #identity(): Identity | null {
    const { self, secret } = this.presence.value;
    return self === null ? this.#before : { id: self, secret };
  }

  #path(what: 'whip' | 'whep'): string {
    return `/${what}/${encodeURIComponent(this.#room)}`;
  }

  #eventsUrl(): string {
    const query = new URLSearchParams({ name: this.#name });
    if (this.#identity !== null) query.set('id', this.#identity.id);
    return `/api/rooms/${encodeURIComponent(this.#room)}/events?${query}`;
  }

  #onEvent(event: string, value: unknown): void {
    const before = this.presence.value;
    const after = reduce(before, event, value);
    if (after === before) return;
    this.presence.set(after);
    // We are somebody new: the server was started again, or forgot us, and our connections with it.
    if (before.self !== null && after.secret !== before.secret) this.#closePlayers();
    const sentences = news(before, after);
    if (sentences.length > 0) this.said.set(sentences.join(' '));
    this.#syncPlayers(before, others(after));
    if (event === 'welcome') this.#startPublishing();
  }

  /** Under our present id, unless that is what we do already. */
  #startPublishing(): void {
    const { self, secret } = this.presence.value;
    if (this.#publishing === null || self === null || secret === this.#publishedAs) return;
    const first = this.#publishedAs === null;
    this.#publishedAs = secret;
    if (first) this.publisher.start(this.#publishing);
    else this.publisher.restart();
  }

  #syncPlayers(earlier: Presence, participants: readonly Participant[]): void {
    const before = this.players.value;
    const after = new Map<string, Player>();
    for (const { id, publishing } of participants) {
      const player = before.get(id);
      if (player !== undefined) {
        // Kept while nothing is published for a moment: a camera that was
        // switched off comes back on the same connection.
        after.set(id, player);
        const had = earlier.participants.get(id)?.publishing;
        const begun = (['audio', 'video'] as const).filter((kind) => publishing[kind] && had?.[kind] !== true);
        const state = player.state.value.kind;
        const lacks = state === 'connected' && begun.some((kind) => !player.receives(kind));
        if (lacks || (state === 'failed' && begun.length > 0)) player.start();
      } else if (publishing.video || publishing.audio) {
        const created = new Player(this.#env, `${this.#path('whep')}/${encodeURIComponent(id)}`);
        after.set(id, created);
        created.start();
      }
    }
    for (const [id, player] of before) if (!after.has(id)) player.close();
    if (after.size !== before.size || [...after.keys()].some((id) => !before.has(id))) this.players.set(after);
  }
}
