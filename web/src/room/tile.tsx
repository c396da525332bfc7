import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Publishing, Reaction } from '../model/types';
import type { May } from '../signal/access';
import { noDecoder } from '../signal/offers';
import type { PeerState } from '../signal/peer';
import type { Person } from '../signal/presence';
import type { Received, ReceivedCamera } from '../signal/received';
import type { Reception } from '../signal/reception';
import { CameraView, cameraNames, pictureLabel } from '../view/camera';
import { hue, initials } from '../view/format';
import { useLasting, useSpeaking, useStore } from '../view/hooks';
import { Microphone } from '../view/icons';
import { LinkBadge } from '../view/links';
import { peerWords, Picture, sentences } from '../view/parts';
import type { OwnMedia } from './media';
import { Signs } from './reactions';
import { ownStatus, statusOf } from './status';
import type { TileWatch } from './watch';

/** Reason for a picture that the server does not send. */
const PAUSED = 'Paused: your connection is too slow.';

/** Time for the server to send a camera before its codec is blamed, ms. Chosen by us: longer than
 *  the negotiation of a line. */
const BLAME_MS = 2_000;

/** Indices of the cameras with a tile: the first one, which has the sound, even while it is off,
 *  and all others that are on. */
function places({ cameras }: Publishing): number[] {
  const others = [...cameras.keys()].filter((place) => place > 0 && cameras[place]?.off === false);
  return [0, ...others];
}

/** Keys of a person's tiles. */
export function tileKeys({ id, who }: Person): string[] {
  return places(who.publishing).map((place) => `${id}/${place}`);
}

/** Keys of the tiles that show a person's screen. */
export function screenKeys({ id, who }: Person): string[] {
  const { cameras } = who.publishing;
  return [...cameras.keys()].filter((place) => cameras[place]?.screen === true).map((place) => `${id}/${place}`);
}

interface RemoteTilesProps {
  readonly person: Person;
  readonly received: Received | undefined;
  readonly reception: Reception;
  readonly reaction: Reaction | null;
  readonly watch: TileWatch;
  /** Whether the server is unreachable, so that its information is outdated. */
  readonly old: boolean;
  /** Tile that is large. */
  readonly large: string | null;
  /** Tile that we made large. */
  readonly pinned: string | null;
  /** Null if there is nothing to choose. */
  readonly onPin: ((key: string) => void) | null;
  /** Called when the person starts or stops speaking. */
  readonly onSpeech: (id: string, speaks: boolean) => void;
}

/** Tiles of another person, one for each camera. */
export function RemoteTiles({ person: { id, who }, received, reception, reaction, watch, old, large, pinned, onPin, onSpeech }: RemoteTilesProps) {
  const { name, publishing, links } = who;
  const state = useStore(reception.state);
  const missingCodec = useStore(reception.missingCodec);
  const sends = publishing.cameras.length > 0 || publishing.audio;
  const speaks = useSpeaking(received?.sound ?? null, publishing.audio);
  useEffect(() => {
    if (!speaks) return undefined;
    onSpeech(id, true);
    return () => onSpeech(id, false);
  }, [id, speaks, onSpeech]);
  const status = statusOf(who);
  const names = cameraNames(publishing.cameras);
  return (
    <>
      {places(publishing).map((place) => {
        const key = `${id}/${place}`;
        const camera = names[place] ?? null;
        const of = publishing.cameras[place];
        return (
          // Keyed by index, so that the first tile stays when a second one appears.
          <RemoteTile
            key={place}
            watch={watch}
            person={id}
            place={place}
            on={of?.off === false}
            received={received?.cameras.get(place)}
            sounds={place === 0 && received?.sound != null}
            label={pictureLabel(name, camera)}
            words={sends ? peerWords(state) : null}
            missingCodec={missingCodec}
            large={key === large}
            speaks={speaks && place === 0}
            pin={onPin === null ? undefined : { pinned: key === pinned, toggle: () => onPin(key) }}
            avatar={name}
            signs={place === 0 && <Signs hand={who.hand !== null} reaction={reaction} />}
          >
            <span class="nameplate">
              {place === 0 && !publishing.audio && (
                <>
                  <Microphone off />
                  <span class="hidden-visually">Without sound: </span>
                </>
              )}
              {place === 0 && speaks && <Speaks />}
              <span class="name">{name}</span>
              {camera !== null && <span class="name quiet">{camera}</span>}
              {status !== null && <span class="quiet">{status}</span>}
            </span>
            {place === 0 && <LinkBadge links={links} who={name} old={old} />}
          </RemoteTile>
        );
      })}
    </>
  );
}

interface RemoteTileProps {
  readonly watch: TileWatch;
  readonly person: string;
  readonly place: number;
  /** Whether the person publishes this camera. */
  readonly on: boolean;
  readonly received: ReceivedCamera | undefined;
  /** Whether the sound belongs to this camera. */
  readonly sounds: boolean;
  readonly label: string;
  /** State of the connection; null if it works. */
  readonly words: string | null;
  readonly missingCodec: string | null;
  readonly large: boolean;
  readonly speaks: boolean;
  readonly pin: { readonly pinned: boolean; readonly toggle: () => void } | undefined;
  /** Name to show in place of a picture. */
  readonly avatar: string;
  readonly signs: ComponentChildren;
  readonly children: ComponentChildren;
}

function RemoteTile({ watch, person, place, on, received, sounds, label, words, missingCodec, large, speaks, pin, avatar, signs, children }: RemoteTileProps) {
  const tile = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (tile.current === null || !on) return undefined;
    return watch.add(tile.current, person, place);
  }, [watch, person, place, on]);
  const sent = received !== undefined && received.track !== null;
  const missing = useLasting(on && words === null && !sent, BLAME_MS);
  const why = received?.paused === true ? PAUSED : missing && missingCodec !== null ? sentences(noDecoder(missingCodec)) : null;
  return (
    <li ref={tile} class={classes({ tile: true, pinned: large, speaks })}>
      <CameraView
        stream={received?.stream ?? null}
        sounds={sounds}
        source={sent && !received.paused ? received.picture : null}
        label={label}
        words={words ?? (on ? why : null)}
        on={on}
        pin={pin}
      >
        {!on && <Avatar name={avatar} />}
      </CameraView>
      {signs}
      <div class="tile-foot">{children}</div>
    </li>
  );
}

interface SelfTileProps {
  readonly name: string;
  readonly may: May;
  readonly own: OwnMedia;
  readonly state: PeerState;
  readonly raised: boolean;
  readonly reaction: Reaction | null;
}

/** Our own tile, mirrored. */
export function SelfTile({ name, may, own: { stream, cameraOn, soundOn }, state, raised, reaction }: SelfTileProps) {
  const words = stream === null ? null : state.kind === 'idle' ? null : peerWords(state);
  return (
    <li class="tile self">
      <Picture stream={cameraOn ? stream : null} label="Your own picture" muted mirrored />
      {!cameraOn && <Avatar name={name} />}
      {words !== null && <p class="veil light">{words}</p>}
      <Signs hand={raised} reaction={reaction} />
      <div class="tile-foot">
        <span class="nameplate">
          {may === 'take_part' && !soundOn && <Microphone off />}
          <span class="name">{name}</span>
          <span class="quiet">{ownStatus(may, stream !== null, state.kind === 'failed' ? 'failed' : state.kind === 'waiting' || state.kind === 'interrupted' ? 'broken' : 'fine')}</span>
        </span>
      </div>
    </li>
  );
}

/** Three bars, so that the frame around the tile is not the only sign of speech. */
function Speaks() {
  return (
    <span class="bars">
      <span class="hidden-visually">speaks: </span>
    </span>
  );
}

function classes(each: Readonly<Record<string, boolean>>): string {
  return Object.keys(each).filter((name) => each[name]).join(' ');
}

function Avatar({ name }: { readonly name: string }) {
  return (
    <div class="avatar" aria-hidden="true">
      <span style={{ '--hue': String(hue(name)) }}>{initials(name)}</span>
    </div>
  );
}
