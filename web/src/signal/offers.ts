// Offers from the server: an empty POST returns the first one, a PATCH on the resource
// sends our answer. The server therefore controls ICE and can move the call between
// links.

import { ProblemError, problemOf, type Problem } from '../model/problem';
import type { Env } from './env';
import { locate, type Attempt } from './peer';

const SDP = 'application/sdp';

/** First offer of a connection. */
export interface Offered {
  /** URL of the connection on the server. */
  readonly resource: string;
  readonly sdp: string;
}

/** Requests the first offer. A missing counterpart is a temporary refusal, because it may appear
 *  later. */
export async function requestOffer(env: Env, url: string, headers: Record<string, string>, { created }: Attempt): Promise<Offered> {
  const response = await env.fetch(url, { method: 'POST', headers: { accept: SDP, ...headers } });
  if (!response.ok) throw new ProblemError(await refusal(response));
  const location = response.headers.get('location');
  if (location === null) throw new ProblemError(noLocation);
  const resource = locate(location, url);
  created(resource);
  return { resource, sdp: await response.text() };
}

/** Sends the peer's present description as the answer. */
export async function sendAnswer(env: Env, resource: string, { peer, signal }: Attempt): Promise<void> {
  const body = peer.localDescription?.sdp ?? '';
  const response = await env.fetch(resource, { method: 'PATCH', headers: { 'content-type': SDP }, body, signal });
  if (!response.ok) throw new ProblemError(await refusal(response));
}

async function refusal(response: Response): Promise<Problem> {
  const problem = await problemOf(response, 'send pictures and sound');
  return response.status === 404 || response.status === 409 ? { ...problem, temporary: true } : problem;
}

const noLocation: Problem = {
  error: 'The server’s answer has no address for the connection.',
  remedy: 'A proxy may remove the Location header: configure it to keep it.',
  temporary: false,
};

/** Returns the codec of an offered picture that the answer rejects, or null. */
export function withoutDecoder(offer: string, answer: string): string | null {
  const answered = sections(answer);
  const rejected = sections(offer).find((section, place) => section.startsWith('video ') && answered[place]?.startsWith('video 0 '));
  return /^a=rtpmap:\d+ (VP8|H264|VP9|AV1)\//m.exec(rejected ?? '')?.[1] ?? null;
}

/** Returns the sections of an offer that accept media from us: their kinds, by id. */
export function takers(offer: string): Map<string, 'audio' | 'video'> {
  const taking = sections(offer).filter((section) => /^a=recvonly\r?$/m.test(section));
  const named = taking.map((section) => [/^a=mid:(\S+)/m.exec(section)?.[1] ?? '', section.startsWith('video ') ? 'video' : 'audio'] as const);
  return new Map(named);
}

/** Returns the media sections of a description, each starting with its kind. */
function sections(sdp: string): string[] {
  return sdp.split(/^m=/m).slice(1);
}

export const noDecoder = (codec: string): Problem => ({
  error: `They send ${codec}, which this browser cannot show.`,
  remedy: 'Use another browser, or let them send the other codec (weft join --codec).',
  temporary: false,
});
