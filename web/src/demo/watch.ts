// Event stream of the demo, and the control of its links.

import { ProblemError, problemOf } from '../model/problem';
import { Store } from '../model/store';
import { readSlow, readTick, readVisitor, type CallFigures, type Forced, type Slow, type Tick } from '../model/types';
import type { Env } from '../signal/env';
import { EventStream, type StreamState } from '../signal/sse';
import { extend, type History } from './history';

/** Silence in ms after which the connection counts as broken; ticks arrive four times a second. */
const SILENCE_MS = 5_000;

/** Total length of all freezes of a picture, and their number. */
export interface Freezes {
  readonly s: number;
  readonly count: number;
}

export class DemoWatch {
  readonly history = new Store<History>([]);
  /** Set while the demo's machine misses too many of its pictures. */
  readonly slow = new Store<Slow | null>(null);
  readonly #env: Env;
  readonly #events: EventStream;
  #visitor: number | null = null;
  /** Counts from before this page was opened, by call. */
  #before: ReadonlyMap<string, CallFigures> = new Map();
  /** Newest time at which the stream broke, while missed ticks are repeated; null afterwards, s. */
  #toldUntil: number | null = null;

  constructor(env: Env) {
    this.#env = env;
    this.#events = new EventStream(env, {
      url: () => '/api/demo/events',
      onMessage: (event, value) => this.#onEvent(event, value),
      silenceMs: SILENCE_MS,
    });
    this.state.subscribe(() => {
      if (this.state.value.kind === 'connecting') this.#toldUntil = this.latest?.t ?? 0;
    });
  }

  get state(): Store<StreamState> {
    return this.#events.state;
  }

  get latest(): Tick | undefined {
    return this.history.value.at(-1);
  }

  /** Returns the freezes of a call since this page was opened or the demo restarted. */
  freezes(call: string): Freezes | null {
    const now = this.latest?.calls.get(call);
    if (now === undefined || now.freezeS === null || now.freezeCount === null) return null;
    const before = this.#before.get(call);
    return {
      s: Math.max(0, now.freezeS - (before?.freezeS ?? 0)),
      count: Math.max(0, now.freezeCount - (before?.freezeCount ?? 0)),
    };
  }

  open(): void {
    this.#events.open();
  }

  close(): void {
    this.#events.close();
  }

  /** Lasts until it is undone or this page is closed. Throws a `ProblemError` if the server refuses. */
  force(link: string, forced: Forced): Promise<void> {
    const body = { state: forced ?? 'auto', ...(this.#visitor === null ? {} : { visitor: this.#visitor }) };
    return this.#post(`links/${encodeURIComponent(link)}`, body, `change the link ${link}`);
  }

  /** Throws a `ProblemError` if the server refuses. */
  choose(setting: string, value: string): Promise<void> {
    return this.#post(`settings/${encodeURIComponent(setting)}`, { value }, `change the ${setting}`);
  }

  /** Throws a `ProblemError` if the server refuses. */
  restart(): Promise<void> {
    return this.#post('restart', {}, 'restart');
  }

  async #post(path: string, body: object, aim: string): Promise<void> {
    const response = await this.#env.fetch(`/api/demo/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new ProblemError(await problemOf(response, aim));
  }

  #onEvent(event: string, value: unknown): void {
    if (event === 'visitor') this.#onVisitor(readVisitor(value));
    if (event === 'slow') this.slow.set(readSlow(value));
    if (event !== 'tick') return;
    const tick = readTick(value);
    if (tick === null) return;
    if (this.#toldUntil === null && tick.t < (this.latest?.t ?? 0)) this.#before = new Map();
    this.history.set(extend(this.history.value, tick));
  }

  /** Arrives after the earlier ticks. A page that was already here keeps its counts, unless the
   *  demo was restarted in the meantime. */
  #onVisitor(id: number | null): void {
    // The present state of the machine follows.
    this.slow.set(null);
    const now = this.latest;
    if (this.#visitor === null) this.#before = now?.calls ?? new Map();
    else if ((now?.t ?? 0) < (this.#toldUntil ?? 0)) this.#before = new Map();
    this.#visitor = id;
    this.#toldUntil = null;
  }
}
