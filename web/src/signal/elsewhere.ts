// Server of the cluster other than the one that the page was loaded from.

import type { Destination } from '../model/types';
import type { Env } from './env';

/** Whether a page may send its token to this server: the token must stay within TLS. */
export function isSafe({ url }: Destination, page: string): boolean {
  return url.startsWith('https:') || (url.startsWith('http:') && !page.startsWith('https:'));
}

/** The environment with all requests sent to this server by this `fetch`. The token is only in a
 *  header, because an address would appear in logs. */
export function envAt(env: Env, fetch: Env['fetch'], { url: server, token }: Destination): Env {
  return {
    fetch: (input, init = {}) => {
      const url = new URL(input, server);
      const shown = token === null || url.origin !== server ? {} : { authorization: `Bearer ${token}` };
      return fetch(url.href, { ...init, headers: { ...shown, ...(init.headers as Record<string, string> | undefined) } });
    },
    freshFetch: () => env.freshFetch(),
    newPeer: (iceServers) => env.newPeer(iceServers),
    newStream: () => env.newStream(),
    videoCodecs: () => env.videoCodecs(),
    storage: env.storage,
    random: () => env.random(),
    after: (ms, what) => env.after(ms, what),
  };
}
