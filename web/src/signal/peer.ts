// Media connection that reconnects: negotiates, watches the transport, and
// negotiates again after a failure. WHIP, WHEP and the reception of a room
// differ in `negotiate`.

import { problemFrom, type Problem } from '../model/problem';
import { Store } from '../model/store';
import { Backoff } from './backoff';
import type { Env } from './env';

/** Time limit from the answer to a working transport. Chosen by us: many times a handshake over a
 *  slow mobile link. */
const CONNECT_MS = 15_000;

/** Time for a silent transport to recover by itself. Chosen by us: longer than weft
 *  needs to move a call to another link, shorter than people's patience. */
const INTERRUPTION_MS = 6_000;

/** Local candidates are available within milliseconds; candidates of STUN and TURN servers
 *  may take seconds, and the server learns of them from their checks. Chosen by us. */
const GATHERING_MS = 250;

export type PeerState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'connecting' }
  | { readonly kind: 'connected' }
  /** The transport is silent and may recover. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'waiting'; readonly problem: Problem }
  | { readonly kind: 'failed'; readonly problem: Problem }
  | { readonly kind: 'closed' };

/** Single attempt; `current` becomes false when a newer one or `close` replaces it. */
export interface Attempt {
  readonly peer: RTCPeerConnection;
  readonly current: () => boolean;
  /** Reports the connection's resource on the server, so that it can be deleted. */
  readonly created: (resource: string) => void;
  /** Signal for the requests after the one that created the resource. */
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

  /** STUN and TURN servers of the next attempts. */
  iceServers: readonly RTCIceServer[] = [];

  constructor(env: Env, negotiate: Negotiate) {
    this.#env = env;
    this.#negotiate = negotiate;
  }

  /** Resource of the present connection on the server. */
  get resource(): string | null {
    return this.#running?.resource ?? null;
  }

  /** Starts, or restarts after abandoning the present connection. */
  start(): void {
    if (this.state.value.kind === 'closed') return;
    this.#end();
    const running: Running = { peer: this.#env.newPeer(this.iceServers), abort: new AbortController(), resource: null };
    this.#running = running;
    this.state.set({ kind: 'connecting' });
    running.peer.onconnectionstatechange = () => this.#onConnectionState(running);
    void this.#attempt(running);
  }

  /** Ends permanently and notifies the server; also works while the page is being left. */
  close(): void {
    this.#end();
    this.state.set({ kind: 'closed' });
  }

  /** The server has ended the connection with this name; reconnects if it is the present one. */
  onEnded(resource: string): void {
    if (this.resource?.endsWith(`/${resource}`) === true) this.#retry(interrupted);
  }

  /** Abandons the present connection because of this error, and reconnects. */
  fail(thrown: unknown): void {
    if (this.#running !== null) this.#retry(problemFrom(thrown));
  }

  async #attempt(running: Running): Promise<void> {
    try {
      await this.#negotiate({
        peer: running.peer,
        current: () => this.#running === running,
        created: (resource) => {
          running.resource = resource;
          // Abandoned while the server answered: delete the resource here.
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
    // Lets a first request finish, so that `created` learns of the server's resource and
    // deletes it.
    if (running.resource === null) return;
    running.abort.abort();
    this.#remove(running.resource);
  }

  #remove(resource: string): void {
    // keepalive: also while the page is being left. The answer does not matter, because
    // the server times out silent connections anyway.
    void this.#env.fetch(resource, { method: 'DELETE', keepalive: true }).catch(() => undefined);
  }
}

const interrupted: Problem = {
  error: 'The connection for picture and sound broke.',
  remedy: 'weft connects again by itself.',
  temporary: true,
};

/** Resolves when the candidates are complete, or after enough time for the local ones. */
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

/** Returns the resource in a `Location` header, relative to the request. */
export function locate(location: string, request: string): string {
  const here = 'http://weft.invalid';
  const url = new URL(location, new URL(request, here));
  return url.origin === here ? url.pathname + url.search : url.href;
}
