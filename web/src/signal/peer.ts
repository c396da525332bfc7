// One media connection that stays up: negotiates, watches the transport, and
// negotiates afresh when it broke. WHIP and WHEP differ only in `negotiate`.

import { problemFrom, type Problem } from '../model/problem';
import { Store } from '../model/store';
import { Backoff } from './backoff';
import type { Env } from './env';

/** From the answer to a transport that works. Chosen by us: many times a
 *  handshake over a slow mobile link. */
const CONNECT_MS = 15_000;

/** How long a silent transport may come back by itself. Chosen by us: longer
 *  than weft needs to move a call to another link, shorter than patience. */
const INTERRUPTION_MS = 6_000;

/** Local candidates are there within milliseconds; this bounds the odd case. */
const GATHERING_MS = 1_000;

export type PeerState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  /** The transport is silent and may come back. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'waiting'; readonly problem: Problem }
  | { readonly kind: 'failed'; readonly problem: Problem }
  | { readonly kind: 'closed' };

/** One attempt; `current` turns false when a newer one or `close` replaced it. */
export interface Attempt {
  readonly peer: RTCPeerConnection;
  readonly current: () => boolean;
  /** Tells where the server keeps this connection, so that it can be ended there. */
  readonly created: (resource: string) => void;
  /** For the requests after the one that made the resource. */
  readonly signal: AbortSignal;
}

export type Negotiate = (attempt: Attempt) => Promise<void>;

interface Running {
  readonly peer: RTCPeerConnection;
  readonly abort: AbortController;
  resource: string | null;
}

export class PeerSession {
  readonly state = new Store<PeerState>({ kind: 'idle' });
  readonly #env: Env;
  readonly #negotiate: Negotiate;
  readonly #backoff = new Backoff();
  #running: Running | null = null;
  #cancelTimer = (): void => undefined;

  constructor(env: Env, negotiate: Negotiate) {
    this.#env = env;
    this.#negotiate = negotiate;
  }

  /** Where the server keeps the present connection. */
  get resource(): string | null {
    return this.#running?.resource ?? null;
  }

  get peer(): RTCPeerConnection | null {
    return this.#running?.peer ?? null;
  }

  /** Starts, or starts afresh: the connection that runs is given up. */
  start(): void {
    if (this.state.value.kind === 'closed') return;
    this.#end();
    const running: Running = { peer: this.#env.newPeer(), abort: new AbortController(), resource: null };
    this.#running = running;
    this.state.set({ kind: 'connecting' });
    running.peer.onconnectionstatechange = () => this.#onConnectionState(running);
    void this.#attempt(running);
  }

  /** Ends for good and tells the server; works while the page goes away, too. */
  close(): void {
    this.#end();
    this.state.set({ kind: 'closed' });
  }

  /** Ends for good what the server has ended already. */
  drop(): void {
    if (this.#running !== null) this.#running.resource = null;
    this.close();
  }

  async #attempt(running: Running): Promise<void> {
    try {
      await this.#negotiate({
        peer: running.peer,
        current: () => this.#running === running,
        created: (resource) => {
          running.resource = resource;
          // Given up while the server answered: nobody else would end it there.
          if (this.#running !== running) this.#remove(resource);
        },
        signal: running.abort.signal,
      });
      if (this.#running !== running || this.state.value.kind !== 'connecting') return;
      this.#arm(CONNECT_MS, () =>
        this.#retry({
          error: 'Picture and sound cannot get through between this browser and the server.',
          remedy: 'A firewall may block UDP: allow it, or use another network. weft keeps trying.',
          temporary: true,
        }),
      );
    } catch (thrown) {
      if (this.#running === running) this.#retry(problemFrom(thrown));
    }
  }

  #onConnectionState(running: Running): void {
    if (this.#running !== running) return;
    switch (running.peer.connectionState) {
      case 'connected':
        this.#cancelTimer();
        this.#backoff.reset();
        this.state.set({ kind: 'connected' });
        break;
      case 'disconnected':
        this.state.set({ kind: 'interrupted' });
        this.#arm(INTERRUPTION_MS, () => this.#retry(interrupted));
        break;
      case 'failed':
      case 'closed':
        this.#retry(interrupted);
        break;
      default:
        break;
    }
  }

  #retry(problem: Problem): void {
    this.#end();
    if (!problem.temporary) {
      this.state.set({ kind: 'failed', problem });
      return;
    }
    this.state.set({ kind: 'waiting', problem });
    this.#arm(this.#backoff.next(), () => this.start());
  }

  #arm(ms: number, what: () => void): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#env.after(ms, what);
  }

  #end(): void {
    this.#cancelTimer();
    const running = this.#running;
    if (running === null) return;
    this.#running = null;
    running.peer.onconnectionstatechange = null;
    running.peer.close();
    // A first request under way is left to finish, so that `created` learns
    // what the server has made and removes it.
    if (running.resource === null) return;
    running.abort.abort();
    this.#remove(running.resource);
  }

  #remove(resource: string): void {
    // keepalive: also when the page is being left. Nobody waits for the answer;
    // the server ends what falls silent anyway.
    void this.#env.fetch(resource, { method: 'DELETE', keepalive: true }).catch(() => undefined);
  }
}

const interrupted: Problem = {
  error: 'The connection for picture and sound broke.',
  remedy: 'weft connects again by itself.',
  temporary: true,
};

/** Resolves when the local candidates are complete, or good enough. */
export function gathered(peer: RTCPeerConnection, env: Env): Promise<void> {
  if (peer.iceGatheringState === 'complete') return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      peer.onicegatheringstatechange = null;
      resolve();
    };
    const cancel = env.after(GATHERING_MS, done);
    peer.onicegatheringstatechange = () => {
      if (peer.iceGatheringState === 'complete') done();
    };
  });
}

/** The resource that a `Location` header names, relative to the request. */
export function locate(location: string, request: string): string {
  const here = 'http://weft.invalid';
  const url = new URL(location, new URL(request, here));
  return url.origin === here ? url.pathname + url.search : url.href;
}
