// `weft call`: one native sender, directly connected to this page.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { nothing, readLinks, readPublishing, type Link, type Publishing } from '../model/types';
import { tileWidth } from '../room/layout';
import { browserEnv } from '../signal/env';
import { Player } from '../signal/whep';
import { CameraView, cameraNames, pictureLabel } from '../view/camera';
import { useSize, useStore } from '../view/hooks';
import { Sound } from '../view/icons';
import { LinkBadge } from '../view/links';
import { Announcer, Brand, peerWords, soundBlocked } from '../view/parts';

/** Polling interval of the sender's links, ms. */
const LINKS_EVERY_MS = 1_000;

/** Failed polls to ignore: the picture itself shows whether the sender is there. */
const MOST_MISSES = 3;

/** Between tiles, CSS pixels. */
const GAP = 10;

export interface Call {
  readonly name: string;
  readonly publishing: Publishing;
  readonly links: readonly Link[];
}

/** Mode of this server: rooms, the demo with rooms beside it, a relay, the page of a sender, or a single call. */
export type Served = 'rooms' | 'demo' | 'relay' | 'join' | Call;

/** Reads `/api/call`; rooms without an answer. */
export async function fetchServed(): Promise<Served> {
  const response = await fetch('/api/call', { cache: 'no-store' });
  if (!response.ok || !(response.headers.get('content-type') ?? '').includes('json')) return 'rooms';
  const body = (await response.json()) as { mode?: unknown; name?: unknown; publishing?: unknown; links?: unknown };
  if (body.mode === 'demo' || body.mode === 'relay' || body.mode === 'join') return body.mode;
  if (body.mode !== 'call') return 'rooms';
  const publishing = body.publishing === undefined ? nothing : readPublishing(body.publishing);
  return { name: typeof body.name === 'string' ? body.name : 'the sender', publishing, links: readLinks(body.links) };
}

export function WatchCall({ first }: { readonly first: Call }) {
  const player = useMemo(() => new Player(browserEnv(), '/whep/call/sender'), []);
  const streams = useStore(player.streams);
  const state = useStore(player.state);
  const blocked = useStore(soundBlocked);
  const { call, old } = useCall(first);
  const [setGrid, size] = useSize();

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
  const named = cameraNames(call.publishing.cameras);
  const cameras = named.length > 0 ? named : [null];
  const tile = tileWidth(cameras.length, size.width, size.height, GAP);
  return (
    <div class="room watch">
      <header class="bar-top">
        <Brand />
        <h1 class="room-name">{call.name}</h1>
        <button type="button" class={blocked ? 'button primary small' : 'button small'} onClick={() => soundBlocked.set(!blocked)}>
          <Sound /> {blocked ? 'Turn sound on' : 'Turn sound off'}
        </button>
      </header>
      <main class="stage" ref={setGrid}>
        <ul class="tiles" aria-label="Cameras" style={{ gap: `${GAP}px`, '--tile': `${tile}px` }}>
          {cameras.map((camera, place) => (
            <li key={place} class="tile">
              <CameraView stream={streams[place] ?? null} source={streams[place] ?? null} label={pictureLabel(call.name, camera)} words={words} on={true} />
              <div class="tile-foot">
                <span class="nameplate">
                  <span class="name">{call.name}</span>
                  {camera !== null && <span class="name quiet">{camera}</span>}
                </span>
                {place === 0 && <LinkBadge links={call.links} who={call.name} old={old} />}
              </div>
            </li>
          ))}
        </ul>
      </main>
      <Announcer>{words ?? 'The picture plays.'}</Announcer>
    </div>
  );
}

/** Statistics of the sender, and whether it has fallen silent. */
function useCall(first: Call): { call: Call; old: boolean } {
  const [call, setCall] = useState(first);
  const [misses, setMisses] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      fetchServed().then(
        (next) => {
          if (typeof next === 'object') setCall(next);
          setMisses(typeof next === 'object' ? 0 : (before) => before + 1);
        },
        () => setMisses((before) => before + 1),
      );
    }, LINKS_EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return { call, old: misses >= MOST_MISSES };
}
