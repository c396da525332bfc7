// `weft call`: one native sender, directly connected to this page, which may talk back.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { nothing, readLinks, readPublishing, type Link, type Publishing } from '../model/types';
import { CameraToggle, MicrophoneToggle } from '../room/controls';
import { DevicesButton } from '../room/devices';
import { tileWidth } from '../room/layout';
import { browserEnv } from '../signal/env';
import { Player } from '../signal/whep';
import { CameraView, cameraNames, pictureLabel } from '../view/camera';
import { useShortcuts, useSize, useStore } from '../view/hooks';
import { Sound } from '../view/icons';
import { LinkBadge } from '../view/links';
import { Announcer, Brand, Notice, peerWords, Picture, soundBlocked } from '../view/parts';
import { useTalk } from './talk';

/** Polling interval of the sender's links, ms. */
const LINKS_EVERY_MS = 1_000;

/** Failed polls to ignore: the picture itself shows whether the sender is there. */
const MOST_MISSES = 3;

/** Name of a sender without a name. */
const UNNAMED = 'weft';

/** Gap between tiles, CSS pixels. */
const GAP = 10;

export interface Call {
  readonly name: string;
  readonly publishing: Publishing;
  readonly links: readonly Link[];
  /** Whether the sender plays our sound. */
  readonly hears: boolean;
  /** Whether the sender shows our picture. */
  readonly sees: boolean;
}

/** Mode of this server: rooms, the demo with rooms beside it, a relay, the page of a sender, or a single call. */
export type Served = 'rooms' | 'demo' | 'relay' | 'join' | Call;

/** Reads `/api/call`; assumes rooms without an answer. */
export async function fetchServed(): Promise<Served> {
  const response = await fetch('/api/call', { cache: 'no-store' });
  if (!response.ok || !(response.headers.get('content-type') ?? '').includes('json')) return 'rooms';
  const body = (await response.json()) as Record<string, unknown>;
  const mode = body['mode'];
  if (mode === 'demo' || mode === 'relay' || mode === 'join') return mode;
  if (mode !== 'call') return 'rooms';
  const name = body['name'];
  return {
    name: typeof name === 'string' ? name : 'the sender',
    publishing: body['publishing'] === undefined ? nothing : readPublishing(body['publishing']),
    links: readLinks(body['links']),
    hears: body['hears'] === true,
    sees: body['sees'] === true,
  };
}

export function WatchCall({ first }: { readonly first: Call }) {
  const player = useMemo(() => new Player(browserEnv(), '/whep/call/sender'), []);
  const streams = useStore(player.streams);
  const state = useStore(player.state);
  const blocked = useStore(soundBlocked);
  const { call, old } = useCall(first);
  const [setGrid, size] = useSize();
  const talk = useTalk(player);
  useShortcuts({ m: call.hears ? talk.toggleSound : null, v: call.sees ? talk.toggleCamera : null, d: () => document.getElementById('devices')?.togglePopover() });
  const heading = call.name === UNNAMED ? 'Call' : call.name;
  useEffect(() => {
    document.title = `${heading} · weft`;
  }, [heading]);

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
  const tile = tileWidth(cameras.length + (talk.preview === null ? 0 : 1), size.width, size.height, GAP);
  return (
    <div class="room watch">
      <header class="bar-top">
        <Brand />
        <h1 class="room-name">{heading}</h1>
        <button type="button" class={blocked ? 'button primary small' : 'button small'} onClick={() => soundBlocked.set(!blocked)}>
          <Sound /> {blocked ? 'Turn sound on' : 'Turn sound off'}
        </button>
      </header>
      <main class="stage" ref={setGrid}>
        <ul class="tiles" aria-label="Cameras" style={{ gap: `${GAP}px`, '--tile': `${tile}px` }}>
          {cameras.map((camera, place) => (
            <li key={place} class="tile">
              <CameraView stream={streams[place] ?? null} sounds={place === 0 && streams[0] !== undefined && streams[0].getAudioTracks().length > 0} source={streams[place] ?? null} label={pictureLabel(call.name, camera)} words={words ?? (call.publishing.cameras[place]?.off === true ? 'The camera is off.' : null)} on={true} />
              <div class="tile-foot">
                <span class="nameplate">
                  <span class="name">{call.name}</span>
                  {camera !== null && <span class="name quiet">{camera}</span>}
                </span>
                {place === 0 && <LinkBadge links={call.links} who={call.name} old={old} />}
              </div>
            </li>
          ))}
          {talk.preview !== null && (
            <li class="tile">
              <Picture stream={talk.preview} label="Your own picture" muted mirrored />
              <div class="tile-foot">
                <span class="nameplate">
                  <span class="name">You</span>
                </span>
              </div>
            </li>
          )}
        </ul>
      </main>
      <footer class="controls">
        {talk.problem !== null && <Notice problem={talk.problem} action={{ label: 'Try again', run: talk.again }} onDismiss={talk.dismiss} />}
        {call.hears && <MicrophoneToggle own={talk} />}
        {call.sees && <CameraToggle own={talk} />}
        <DevicesButton cameras={call.sees ? talk.cameras : null} microphones={call.hears ? talk.microphones : null} stream={talk.stream} soundOn={talk.soundOn} />
        {!call.hears && <p class="quiet">Nobody hears you: the sender has no loudspeaker.</p>}
      </footer>
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
