// A room from inside: the event stream, our publisher, and one player for
// everybody who publishes.

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
  /** Who an earlier page of this tab was. */
  #before: Identity | null;
  #publishing: Tracks | null = null;
  /** What somebody published when they were asked for it. */
  readonly #asked = new Map<Player, Publishing>();
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
    this.#part();
    this.#before = null;
    this.#events.close();
    this.publisher.close();
    this.#closePlayers();
  }

  /** Says that the page goes away, so that the others need not wait whether we come back. */
  #part(): void {
    const { self, secret } = this.presence.value;
    if (self === null || this.events.value.kind === 'closed') return;
    const query = new URLSearchParams({ id: self });
    const url = `/api/rooms/${encodeURIComponent(this.#room)}/events?${query}`;
    // keepalive: also while the page is being left. A server that does not know it waits a little longer.
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
    // We are somebody new: the server was started again, or forgot us, and our connections with it.
    if (before.self !== null && after.secret !== before.secret) this.#closePlayers();
    const sentences = news(before, after);
    if (sentences.length > 0) this.said.set(sentences.join(' '));
    this.#syncPlayers(before, others(after));
    if (event !== 'welcome') return;
    // The server is back and knows us still: what waits for it need not wait longer.
    if (after.secret === before.secret) this.hurry();
    this.#startPublishing();
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
    for (const participant of participants) {
      const { id, publishing } = participant;
      const player = before.get(id);
      if (player !== undefined) {
        // Kept while nothing is published for a moment: a camera that was
        // switched off comes back on the same connection.
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

  /** What a connection carries was agreed on when it was made: who has another
   *  camera since then is played anew, once. */
  #playWhatIsMissing({ publishing }: Participant, player: Player): void {
    if (player.state.value.kind !== 'connected' || !hasMoreThan(publishing, player.received)) return;
    if (!hasMoreThan(publishing, this.#asked.get(player) ?? nothing)) return;
    this.#asked.set(player, publishing);
    player.start();
  }
}
