// Identity of this tab: after a reload, the page returns as the same
// participant.

import type { Env } from './env';

/** Public id of a participant, and the secret that proves it. */
export interface Identity {
  readonly id: string;
  readonly secret: string;
  /** Name chosen by the participant during the call; null for the initial one. */
  readonly name: string | null;
}

/** Header with the secret; in an address it would appear in logs. */
const SECRET = 'weft-secret';

const KEY = 'weft.identity';

/** Header that proves that a request is ours. */
export function proof(identity: Pick<Identity, 'secret'> | null): Record<string, string> {
  return identity === null || identity.secret === '' ? {} : { [SECRET]: identity.secret };
}

/** Takes the identity that an earlier page of this tab left for this room. It is in the tab's
 *  storage only between two pages, because browsers copy that storage when a tab is duplicated or
 *  opened by a script, and a copy with the secret would take over the call of the original tab. The
 *  copy therefore finds nothing, and joins as a new participant. */
export function takeIdentity(storage: Env['storage'], room: string): Identity | null {
  try {
    const left = storage?.getItem(KEY) ?? null;
    storage?.removeItem(KEY);
    const value = (left === null ? null : JSON.parse(left)) as Partial<Identity & { room: string }> | null;
    if (value?.room !== room || typeof value.id !== 'string' || typeof value.secret !== 'string') return null;
    return { id: value.id, secret: value.secret, name: typeof value.name === 'string' ? value.name : null };
  } catch {
    return null;
  }
}

/** Leaves the identity for the next page in this tab. */
export function leaveIdentity(storage: Env['storage'], room: string, identity: Identity): void {
  try {
    storage?.setItem(KEY, JSON.stringify({ room, ...identity }));
  } catch {
    // Storage may be forbidden or full; then the next page joins as a new
    // participant.
  }
}
