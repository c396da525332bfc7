// Access to a room, checked before anything else, especially before requesting
// a camera.

import { problemFrom, problemOf, ProblemError, type Problem } from '../model/problem';
import type { Env } from './env';

/** Permission in a room. */
export type May = 'watch' | 'take_part';

export type Access =
  | { readonly kind: 'in'; readonly may: May }
  /** The server requires a token; the problem is that of the given one. */
  | { readonly kind: 'token'; readonly problem: Problem | null }
  | { readonly kind: 'refused'; readonly problem: Problem };

/** Validity of an invitation in hours. Chosen by us: until the call, but not forever. */
const INVITATION_HOURS = 24;

/** Requests access with the given token, or with the one stored by the browser. Never throws. */
export async function askAccess(env: Env, room: string, token: string | null): Promise<Access> {
  try {
    const response = await env.fetch(`/api/rooms/${encodeURIComponent(room)}/access`, {
      cache: 'no-store',
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
    // A server without this interface requires no token.
    if (response.status === 404) return { kind: 'in', may: 'take_part' };
    if (!response.ok) return refusal(await kindOf(response), await problemOf(response, 'let you in'));
    const { may } = (await response.json()) as { may?: unknown };
    return { kind: 'in', may: may === 'watch' ? 'watch' : 'take_part' };
  } catch (thrown) {
    return { kind: 'refused', problem: problemFrom(thrown) };
  }
}

async function kindOf(response: Response): Promise<string> {
  const body = (await response.clone().json().catch(() => null)) as { kind?: unknown } | null;
  if (typeof body?.kind === 'string') return body.kind;
  return response.status === 401 ? 'token_missing' : '';
}

function refusal(kind: string, problem: Problem): Access {
  if (kind === 'token_missing') return { kind: 'token', problem: null };
  return kind.startsWith('token_') ? { kind: 'token', problem } : { kind: 'refused', problem };
}

/** Extracts the token from pasted text: a token or an address. */
export function tokenFrom(typed: string): string {
  const pasted = typed.trim();
  return /[?&]token=([^&#\s]+)/.exec(pasted)?.[1] ?? pasted;
}

/** Creates an invitation link for a guest. Throws a `ProblemError` if the server refuses. */
export async function invitation(env: Env, origin: string, path: string, room: string): Promise<string> {
  const response = await env.fetch(`/api/rooms/${encodeURIComponent(room)}/invitation`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ may: 'take_part', hours: INVITATION_HOURS }),
  });
  if (response.status === 404) return origin + path;
  if (!response.ok) throw new ProblemError(await problemOf(response, 'write an invitation'));
  const { token } = (await response.json()) as { token?: unknown };
  return typeof token === 'string' ? `${origin}${path}?token=${encodeURIComponent(token)}` : origin + path;
}
