// Server-Sent Events over fetch. EventSource would hide the status and the
// body of a refusal, and could not change its URL between attempts.

import { problemFrom, problemOf, ProblemError, type Problem } from '../model/problem';
import { Store } from '../model/store';
import { Backoff } from './backoff';
import type { Env } from './env';

export interface Message {
  readonly event: string;
  readonly data: string;
}

/** Maximum length of an incomplete message in characters, far above our longest event. */
const LONGEST_MESSAGE = 1 << 20;

/** Parses the text/event-stream format (WHATWG HTML, section 9.2.6), piece by piece. */
export class MessageParser {
  #line = '';
  #event = '';
  #data: string[] = [];
  #size = 0;
  #skipNewline = false;

  push(piece: string): Message[] {
    const messages: Message[] = [];
    let start = 0;
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece[at];
      if (character !== '\n' && character !== '\r') {
        this.#skipNewline = false;
        continue;
      }
      const half = this.#skipNewline && character === '\n';
      this.#skipNewline = character === '\r';
      if (half) {
        start = at + 1;
        continue;
      }
      const message = this.#endLine(this.#line + piece.slice(start, at));
      this.#line = '';
      start = at + 1;
      if (message !== null) messages.push(message);
    }
    this.#line += piece.slice(start);
    if (this.#line.length > LONGEST_MESSAGE) throw new Error('an event of the server has no end');
    return messages;
  }

  #endLine(line: string): Message | null {
    if (line === '') {
      const message = this.#data.length > 0 ? { event: this.#event || 'message', data: this.#data.join('\n') } : null;
      this.#event = '';
      this.#data = [];
      this.#size = 0;
      return message;
    }
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'event') this.#event = value;
    if (name === 'data') {
      this.#data.push(value);
      this.#size += value.length;
      if (this.#size > LONGEST_MESSAGE) throw new Error('an event of the server has no end');
    }
    return null;
  }
}

export type StreamState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  | { readonly kind: 'waiting'; readonly problem: Problem }
  | { readonly kind: 'failed'; readonly problem: Problem }
  | { readonly kind: 'closed' };

export interface StreamOptions {
  /** Called before every attempt. */
  readonly url: () => string;
  /** Additional headers, called before every attempt. */
  readonly headers?: () => Record<string, string>;
  readonly onMessage: (name: string, value: unknown) => void;
  /** Silence in ms after which the connection counts as broken. */
  readonly silenceMs: number;
}

/** Event stream that reconnects until `close`. */
export class EventStream {
  readonly state = new Store<StreamState>({ kind: 'connecting' });
  readonly #env: Env;
  readonly #options: StreamOptions;
  readonly #backoff = new Backoff();
  #abort: AbortController | null = null;
  #cancelTimer = (): void => undefined;

  constructor(env: Env, options: StreamOptions) {
    this.#env = env;
    this.#options = options;
  }

  /** Connects now, also during a delay, for example when the network is back. */
  open(): void {
    if (this.state.value.kind === 'closed' || this.#abort !== null) return;
    this.#cancelTimer();
    this.state.set({ kind: 'connecting' });
    const abort = new AbortController();
    this.#abort = abort;
    void this.#run(abort);
  }

  close(): void {
    this.#cancelTimer();
    this.#abort?.abort();
    this.#abort = null;
    this.state.set({ kind: 'closed' });
  }

  async #run(abort: AbortController): Promise<void> {
    let problem: Problem;
    try {
      await this.#read(abort);
      problem = { error: 'The connection to the server ended.', remedy: 'weft connects again by itself.', temporary: true };
    } catch (thrown) {
      problem = abort.signal.aborted
        ? { error: 'The server has gone silent.', remedy: 'weft connects again by itself.', temporary: true }
        : problemFrom(thrown);
    }
    if (this.#abort !== abort) return;
    this.#cancelTimer();
    this.#abort = null;
    if (!problem.temporary) {
      this.state.set({ kind: 'failed', problem });
      return;
    }
    this.state.set({ kind: 'waiting', problem });
    this.#cancelTimer = this.#env.after(this.#backoff.next(), () => this.open());
  }

  async #read(abort: AbortController): Promise<void> {
    this.#watch(abort);
    const response = await this.#env.fetch(this.#options.url(), {
      headers: { accept: 'text/event-stream', ...this.#options.headers?.() },
      cache: 'no-store',
      signal: abort.signal,
    });
    if (!response.ok || response.body === null) throw new ProblemError(await problemOf(response, 'tell what happens'));
    if (this.#abort !== abort) return;
    this.state.set({ kind: 'open' });
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    const parser = new MessageParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#abort !== abort) return;
      this.#watch(abort);
      for (const message of parser.push(decoder.decode(value, { stream: true }))) this.#deliver(message);
    }
  }

  #deliver(message: Message): void {
    let value: unknown;
    try {
      value = JSON.parse(message.data);
    } catch {
      return;
    }
    // A message shows that the server works; an open connection alone does not.
    this.#backoff.reset();
    this.#options.onMessage(message.event, value);
  }

  #watch(abort: AbortController): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#env.after(this.#options.silenceMs, () => abort.abort());
  }
}
