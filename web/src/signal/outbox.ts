// Our messages on their way to the room's chat.

import { problemFrom, problemOf, ProblemError, type Problem } from '../model/problem';
import { Store } from '../model/store';
import { Backoff } from './backoff';
import type { Env } from './env';

export interface Outgoing {
  /** Chosen by us: the server accepts a repeated request with the same key only once. */
  readonly key: string;
  readonly text: string;
  /** Id assigned by the server; null until then. */
  readonly id: string | null;
  /** Reason why it waits or was refused; null while it is being sent. */
  readonly problem: Problem | null;
}

/** Sends one message after another, each until the server has accepted or refused it. */
export class Outbox {
  /** Messages that the room's events have not returned yet, in order. */
  readonly messages = new Store<readonly Outgoing[]>([]);
  readonly #env: Env;
  readonly #post: (text: string, key: string) => Promise<Response>;
  readonly #backoff = new Backoff();
  #sending = false;
  #closed = false;
  #count = 0;
  #cancelTimer = (): void => undefined;

  constructor(env: Env, post: (text: string, key: string) => Promise<Response>) {
    this.#env = env;
    this.#post = post;
  }

  send(text: string): void {
    const key = `${this.#env.random()}-${(this.#count += 1)}`;
    this.messages.set([...this.messages.value, { key, text, id: null, problem: null }]);
    void this.#run();
  }

  /** Drops a refused message. */
  discard(key: string): void {
    this.messages.set(this.messages.value.filter((each) => each.key !== key));
  }

  /** Drops messages that the room already has. */
  settle(has: (id: string) => boolean): void {
    const left = this.messages.value.filter(({ id }) => id === null || !has(id));
    if (left.length < this.messages.value.length) this.messages.set(left);
  }

  /** Retries now, because the connection is back. */
  hurry(): void {
    this.#cancelTimer();
    void this.#run();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  async #run(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    for (;;) {
      const next = this.messages.value.find(({ id, problem }) => id === null && problem?.temporary !== false);
      if (next === undefined || this.#closed) break;
      const wait = await this.#try(next);
      if (wait !== null) {
        this.#cancelTimer = this.#env.after(wait, () => void this.#run());
        break;
      }
    }
    this.#sending = false;
  }

  /** Tries to send; returns the time in ms to wait before the next attempt. */
  async #try({ key, text }: Outgoing): Promise<number | null> {
    try {
      const response = await this.#post(text, key);
      if (response.ok) {
        const { id } = (await response.json()) as { id?: unknown };
        this.#backoff.reset();
        this.#set(key, { id: typeof id === 'string' ? id : '', problem: null });
        return null;
      }
      const problem = await problemOf(response, 'take the message');
      // The room is unknown until the event stream has joined again.
      const temporary = problem.temporary || response.status === 404;
      this.#set(key, { problem: { ...problem, temporary } });
      const seconds = Number(response.headers.get('retry-after') ?? NaN);
      return temporary ? (Number.isFinite(seconds) ? seconds * 1000 : this.#backoff.next()) : null;
    } catch (thrown) {
      this.#set(key, { problem: problemFrom(thrown) });
      return thrown instanceof ProblemError && !thrown.problem.temporary ? null : this.#backoff.next();
    }
  }

  #set(key: string, change: Partial<Outgoing>): void {
    this.messages.set(this.messages.value.map((each) => (each.key === key ? { ...each, ...change } : each)));
  }
}
