// The demo's event stream, and what one can do to its links.

import { ProblemError, problemOf } from '../model/problem';
import { Store } from '../model/store';
import { readTick, type Forced, type Tick } from '../model/types';
import type { Env } from '../signal/env';
import { EventStream, type StreamState } from '../signal/sse';
import { extend, type History } from './history';

/** Ticks come four a second: this long without one is a broken connection, ms. */
const SILENCE_MS = 5_000;

export class DemoWatch {
  readonly history = new Store<History>([]);
  readonly #env: Env;
  readonly #events: EventStream;

  constructor(env: Env) {
    this.#env = env;
    this.#events = new EventStream(env, {
      url: () => '/api/demo/events',
      onMessage: (event, value) => this.#onEvent(event, value),
      silenceMs: SILENCE_MS,
    });
  }

  get state(): Store<StreamState> {
    return this.#events.state;
  }

  get latest(): Tick | undefined {
    return this.history.value.at(-1);
  }

  open(): void {
    this.#events.open();
  }

  close(): void {
    this.#events.close();
  }

  /** Throws a `ProblemError` when the server refuses. */
  force(link: string, forced: Forced): Promise<void> {
    return this.#post(`links/${encodeURIComponent(link)}`, { state: forced ?? 'auto' }, `change the link ${link}`);
  }

  /** Throws a `ProblemError` when the server refuses. */
  choose(setting: string, value: string): Promise<void> {
    return this.#post(`settings/${encodeURIComponent(setting)}`, { value }, `change the ${setting}`);
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
    if (event !== 'tick') return;
    const tick = readTick(value);
    if (tick !== null) this.history.set(extend(this.history.value, tick));
  }
}
