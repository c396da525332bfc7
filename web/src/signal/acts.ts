// Our actions in a room besides media: chat, hand, reactions, name.

import { problemOf, ProblemError } from '../model/problem';
import type { Reaction } from '../model/types';
import type { Env } from './env';

export class Acts {
  readonly #env: Env;
  /** Returns the URL of this resource of the room, as ourselves. */
  readonly #url: (what: string) => string;
  readonly #headers: () => Record<string, string>;

  constructor(env: Env, url: (what: string) => string, headers: () => Record<string, string>) {
    this.#env = env;
    this.#url = url;
    this.#headers = headers;
  }

  /** Posts a message to the chat; the server accepts it once, however often it is sent. */
  say(text: string, key: string): Promise<Response> {
    return this.#request('POST', 'chat', { text, key });
  }

  async setHand(raised: boolean): Promise<void> {
    await this.#ask('PUT', 'hand', { raised });
  }

  async react(reaction: Reaction): Promise<void> {
    await this.#ask('POST', 'reaction', { reaction });
  }

  /** Returns the name that the others see. */
  async rename(name: string): Promise<string> {
    const response = await this.#ask('PUT', 'name', { name });
    const { name: shown } = (await response.json()) as { name?: unknown };
    return typeof shown === 'string' ? shown : name;
  }

  /** Ends our mute by a moderator. */
  async unmute(): Promise<void> {
    await this.#ask('DELETE', 'mute', {});
  }

  async mute(id: string): Promise<void> {
    await this.#ask('PUT', `participants/${encodeURIComponent(id)}/mute`, {});
  }

  async admit(id: string): Promise<void> {
    await this.#ask('PUT', `participants/${encodeURIComponent(id)}/admission`, {});
  }

  async remove(id: string): Promise<void> {
    await this.#ask('DELETE', `participants/${encodeURIComponent(id)}`, {});
  }

  async setSettings(settings: { readonly locked?: boolean; readonly waiting_room?: boolean }): Promise<void> {
    await this.#ask('PUT', 'settings', settings);
  }

  /** Starts or ends the recording of the room on the server. */
  async record(on: boolean): Promise<void> {
    await this.#ask(on ? 'PUT' : 'DELETE', 'recording', {});
  }

  async #ask(method: string, what: string, body: object): Promise<Response> {
    const response = await this.#request(method, what, body);
    if (!response.ok) throw new ProblemError(await problemOf(response, 'do that'));
    return response;
  }

  #request(method: string, what: string, body: object): Promise<Response> {
    return this.#env.fetch(this.#url(what), {
      method,
      headers: { 'content-type': 'application/json', ...this.#headers() },
      body: JSON.stringify(body),
    });
  }
}
