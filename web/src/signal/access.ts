// Whether one may come in: asked before anything else, a camera above all.

import { problemFrom, problemOf, ProblemError, type Problem } from '../model/problem';
import type { Env } from './env';

/** What one may do in a room. */
export type May = 'watch' | 'take_part';

export type Access =
  | { readonly kind: 'in'; readonly may: May }
  /** The server wants a token; the problem is of the one that was shown. */
  | { readonly kind: 'token'; readonly problem: Problem | null }
  | { readonly kind: 'refused'; readonly problem: Problem };

/** How long an invitation is good, hours. Chosen by us: until the call, and not for ever. */
const INVITATION_HOURS = 24;

/** With the token that is given, else with what the browser has kept. Never throws. */
export async function askAccess(env: Env, room: string, token: string | null): Promise<Access> {
  try {
    const response = await env.fetch(`/api/rooms/${encodeURIComponent(room)}/access`, {
      cache: 'no-store',
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    });
    // A server that does not know the question asks for nothing.
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

/** The token in what somebody pasted: itself, or that of an address. */
export function tokenFrom(typed: string): string {
  const pasted = typed.trim();
  return /[?&]token=([^&#\s]+)/.exec(pasted)?.[1] ?? pasted;
}

/** An address that lets a guest into the room. Throws a `ProblemError` when the server gives none. */
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
