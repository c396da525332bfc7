import type { Participant } from '../model/types';
import { Store } from '../model/store';
import type { May } from '../signal/access';
import type { PeerState } from '../signal/peer';
import type { Player } from '../signal/whep';
import { CameraView, cameraNames, pictureLabel } from '../view/camera';
import { initials } from '../view/format';
import { useSpeaking, useStore } from '../view/hooks';
import { Microphone } from '../view/icons';
import { LinkBadge } from '../view/links';
import { peerWords, Picture } from '../view/parts';
import type { OwnMedia } from './media';
import { ownStatus, statusOf } from './status';

const noStreams = new Store<readonly MediaStream[]>([]);
const idle = new Store<PeerState>({ kind: 'idle' });

/** Keys of a participant's tiles: one for each camera, or a single one without any. */
export function tileKeys({ id, publishing }: Participant): string[] {
  return Array.from({ length: Math.max(publishing.cameras.length, 1) }, (_, place) => `${id}/${place}`);
}

interface RemoteTilesProps {
  readonly participant: Participant;
  readonly player: Player | undefined;
  /** Whether the server is unreachable, so that its information is outdated. */
  readonly old: boolean;
  readonly pinned: string | null;
  /** Null if there is nothing to choose. */
  readonly onPin: ((key: string) => void) | null;
}

/** Tiles of another participant, one for each camera. */
export function RemoteTiles({ participant, player, old, pinned, onPin }: RemoteTilesProps) {
  const { name, publishing, links } = participant;
  const status = statusOf(participant);
  const streams = useStore(player?.streams ?? noStreams);
  const state = useStore(player?.state ?? idle);
  const sends = publishing.cameras.length > 0 || publishing.audio;
  const words = !sends || player === undefined ? null : peerWords(state);
  const on = publishing.cameras.length > 0;
  const speaks = useSpeaking(player, publishing.audio);
  const keys = tileKeys(participant);
  const cameras = on ? cameraNames(publishing.cameras) : [null];
  return (
    <>
      {cameras.map((camera, place) => (
        // Keyed by index: the first tile stays when a second one appears.
        <li key={place} class={classes({ tile: true, pinned: keys[place] === pinned, speaks: speaks && place === 0 })}>
          <CameraView
            stream={streams[place] ?? null}
            label={pictureLabel(name, camera)}
            words={words}
            on={on}
            pin={onPin === null ? undefined : { pinned: keys[place] === pinned, toggle: () => onPin(keys[place] ?? '') }}
          >
            {!on && <Avatar name={name} />}
          </CameraView>
          <div class="tile-foot">
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
          </div>
        </li>
      ))}
    </>
  );
}

interface SelfTileProps {
  readonly name: string;
  readonly may: May;
  readonly own: OwnMedia;
  readonly state: PeerState;
}

/** Our own tile, mirrored. */
export function SelfTile({ name, may, own: { stream, cameraOn, soundOn }, state }: SelfTileProps) {
  const words = stream === null ? null : state.kind === 'idle' ? null : peerWords(state);
  return (
    <li class="tile self">
      <Picture stream={cameraOn ? stream : null} label="Your own picture" muted mirrored />
      {!cameraOn && <Avatar name={name} />}
      {words !== null && <p class="veil light">{words}</p>}
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
      <span>{initials(name)}</span>
    </div>
  );
}
