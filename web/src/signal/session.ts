// Our view of a room: the event stream, our publisher, and one player for each
// publishing participant.

import { Store } from '../model/store';
import { hasMoreThan, nothing, type Participant, type Publishing } from '../model/types';
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
  /** Identity of an earlier page of this tab. */
  #before: Identity | null;
  #publishing: Tracks | null = null;
  /** Published tracks of a participant at the time of the request. */
  readonly #asked = new Map<Player, Publishing>();
  /** Secret of our publication's identity: a restarted server may assign the same id. */
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

  /** Retries everything now, because the network may have returned. */
  hurry(): void {
    this.#events.open();
    for (const each of [...this.players.value.values(), this.publisher]) {
      if (each.state.value.kind === 'waiting') 'restart' in each ? each.restart() : each.start();
    }
  }

  /** Publishes these tracks from now on; before the welcome, as soon as it arrives. */
  async publish(tracks: Tracks): Promise<void> {
    this.#publishing = tracks;
    if (this.#publishedAs === null) this.#startPublishing();
    else await this.publisher.setTracks(tracks);
  }

  /** The page is left, and may return at once. */
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
    this.#closePlayers();
  }

  /** Reports that the page is left, so that the others need not wait for its return. */
  #part(): void {
    const { self, secret } = this.presence.value;
    if (self === null || this.events.value.kind === 'closed') return;
    const query = new URLSearchParams({ id: self });
    const url = `/api/rooms/${encodeURIComponent(this.#room)}/events?${query}`;
    // keepalive: also while the page is being left. Without this request, the
    // server waits slightly longer.
    void this.#env.fetch(url, { method: 'DELETE', headers: proof({ id: self, secret }), keepalive: true }).catch(() => undefined);
  }

  #closePlayers(): void {
    for (const player of this.players.value.values()) player.close();
    this.#asked.clear();
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
    // We are a new participant: the server was restarted or forgot us, and our
    // connections are gone.
    if (before.self !== null && after.secret !== before.secret) this.#closePlayers();
    const sentences = news(before, after);
    if (sentences.length > 0) this.said.set(sentences.join(' '));
    this.#syncPlayers(before, others(after));
    if (event !== 'welcome') return;
    // The server is back and still knows us: retry waiting requests now.
    if (after.secret === before.secret) this.hurry();
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

  #syncPlayers(earlier: Presence, participants: readonly Participant[]): void {
    const before = this.players.value;
    const after = new Map<string, Player>();
    for (const participant of participants) {
      const { id, publishing } = participant;
      const player = before.get(id);
      if (player !== undefined) {
        // Kept while nothing is published for a moment: a camera that is
        // switched on again uses the same connection.
        after.set(id, player);
        const begun = hasMoreThan(publishing, earlier.participants.get(id)?.publishing ?? nothing);
        if (begun && player.state.value.kind === 'failed') player.start();
        else this.#playWhatIsMissing(participant, player);
      } else if (hasMoreThan(publishing, nothing)) {
        after.set(id, this.#startPlayer(participant));
      }
    }
    for (const [id, player] of before) {
      if (after.has(id)) continue;
      player.drop();
      this.#asked.delete(player);
    }
    if (after.size !== before.size || [...after.keys()].some((id) => !before.has(id))) this.players.set(after);
  }

  #startPlayer({ id, publishing }: Participant): Player {
    const own = encodeURIComponent(this.#identity?.id ?? '');
    const url = `${this.#path('whep')}/${encodeURIComponent(id)}?participant=${own}`;
    const player = new Player(this.#env, url, () => proof(this.#identity));
    this.#asked.set(player, publishing);
    player.state.subscribe(() => {
      const now = this.presence.value.participants.get(id);
      if (now !== undefined) this.#playWhatIsMissing(now, player);
    });
    player.start();
    return player;
  }

  /** Restarts playback, once, of a participant who has added a track: a connection's
   *  tracks are fixed when it is made. */
  #playWhatIsMissing({ publishing }: Participant, player: Player): void {
    if (player.state.value.kind !== 'connected' || !hasMoreThan(publishing, player.received)) return;
    if (!hasMoreThan(publishing, this.#asked.get(player) ?? nothing)) return;
    this.#asked.set(player, publishing);
    player.start();
  }
}
