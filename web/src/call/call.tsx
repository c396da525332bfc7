// `weft call`: one native sender, straight to this page.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { readLinks, type Link } from '../model/types';
import { browserEnv } from '../signal/env';
import { Player } from '../signal/whep';
import { useFreeze, useStore } from '../view/hooks';
import { Sound } from '../view/icons';
import { LinkBadge } from '../view/links';
import { Announcer, Brand, peerWords, Picture, soundBlocked } from '../view/parts';

/** Between two looks at the sender's links, ms. */
const LINKS_EVERY_MS = 1_000;

/** A standing picture is told from this on, ms. */
const TELL_MS = 1_000;

export interface Call {
  readonly name: string;
  readonly links: readonly Link[];
}

/** What `/api/call` says, or null when this is no `weft call`. */
export async function fetchCall(): Promise<Call | null> {
  const response = await fetch('/api/call', { cache: 'no-store' });
  if (!response.ok || !(response.headers.get('content-type') ?? '').includes('json')) return null;
  const body = (await response.json()) as { mode?: unknown; name?: unknown; links?: unknown };
  if (body.mode !== 'call') return null;
  return { name: typeof body.name === 'string' ? body.name : 'the sender', links: readLinks(body.links) };
}

export function WatchCall({ first }: { readonly first: Call }) {
  const player = useMemo(() => new Player(browserEnv(), '/whep/call/sender'), []);
  const stream = useStore(player.stream);
  const state = useStore(player.state);
  const blocked = useStore(soundBlocked);
  const call = useCall(first);
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  const standing = useFreeze(video, stream);

  useEffect(() => {
    player.start();
    const close = (): void => player.close();
    addEventListener('pagehide', close);
    return () => {
      removeEventListener('pagehide', close);
      player.close();
    };
  }, [player]);

  const words = peerWords(state);
  return (
    <div class="room watch">
      <header class="bar-top">
        <Brand />
        <h1 class="room-name">{call.name}</h1>
      </header>
      <main class="stage">
        <div class="tile">
          <Picture stream={stream} label={`Picture of ${call.name}`} onElement={setVideo} />
          {words !== null && <p class="veil">{words}</p>}
          {words === null && !standing.seen && <p class="veil">Waiting for the first picture…</p>}
          {words === null && standing.frozen && standing.forMs >= TELL_MS && (
            <p class="veil light">No new picture for {Math.floor(standing.forMs / 1000)} s</p>
          )}
          <div class="tile-foot">
            {blocked ? (
              <button type="button" class="button primary small" onClick={() => soundBlocked.set(false)}>
                <Sound /> Turn on sound
              </button>
            ) : (
              <span class="nameplate">
                <span class="name">{call.name}</span>
              </span>
            )}
            <LinkBadge links={call.links} who={call.name} />
          </div>
        </div>
      </main>
      <Announcer>{words ?? 'The picture plays.'}</Announcer>
    </div>
  );
}

function useCall(first: Call): Call {
  const [call, setCall] = useState(first);
  useEffect(() => {
    const timer = setInterval(() => {
      // A miss is no news: the picture itself tells whether the sender is there.
      fetchCall().then(
        (next) => next !== null && setCall(next),
        () => undefined,
      );
    }, LINKS_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return call;
}
