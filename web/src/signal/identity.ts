// Who this tab was before: a reload of the page comes back as the same person.

import type { Env } from './env';

/** A participant's public id, and the secret that proves it. */
export interface Identity {
  readonly id: string;
  readonly secret: string;
}

/** The header that carries the secret: in the address it would stand in logs. */
const SECRET = 'weft-secret';

const KEY = 'weft.identity';

/** What proves to the server that a request is ours. */
export function proof(identity: Identity | null): Record<string, string> {
  return identity === null || identity.secret === '' ? {} : { [SECRET]: identity.secret };
}

/** Takes what an earlier page of this tab has left for this room.
 *
 *  It is in the tab's storage only between two pages. Browsers copy that storage
 *  into a tab that is duplicated or opened by a script; a copy that had the
 *  secret would take the call over from the tab that is in it. So the copy finds
 *  nothing, and joins as somebody new. */
export function takeIdentity(storage: Env['storage'], room: string): Identity | null {
  try {
    const left = storage?.getItem(KEY) ?? null;
    storage?.removeItem(KEY);
    const value = (left === null ? null : JSON.parse(left)) as Partial<Identity & { room: string }> | null;
    if (value?.room !== room || typeof value.id !== 'string' || typeof value.secret !== 'string') return null;
    return { id: value.id, secret: value.secret };
  } catch {
    return null;
  }
}

/** Leaves it for the page that comes next in this tab. */
export function leaveIdentity(storage: Env['storage'], room: string, identity: Identity): void {
  try {
    storage?.setItem(KEY, JSON.stringify({ room, ...identity }));
  } catch {
    // Storage may be forbidden or full; then the next page is somebody new.
  }
}
