import type { Participant } from '../model/types';
import { Store } from '../model/store';
import type { PeerState } from '../signal/peer';
import type { Player } from '../signal/whep';
import { CameraView, cameraNames, pictureLabel } from '../view/camera';
import { initials } from '../view/format';
import { useStore } from '../view/hooks';
import { Microphone } from '../view/icons';
import { LinkBadge } from '../view/links';
import { peerWords, Picture } from '../view/parts';

const noStreams = new Store<readonly MediaStream[]>([]);
const idle = new Store<PeerState>({ kind: 'idle' });

/** How many tiles somebody has: one for each camera, and one without any. */
export function tilesOf({ publishing }: Participant): number {
  return Math.max(publishing.cameras.length, 1);
}

interface RemoteTilesProps {
  readonly participant: Participant;
  readonly player: Player | undefined;
}

/** Somebody else: a tile for each camera. */
export function RemoteTiles({ participant, player }: RemoteTilesProps) {
  const { name, publishing, links } = participant;
  const streams = useStore(player?.streams ?? noStreams);
  const state = useStore(player?.state ?? idle);
  const watches = publishing.cameras.length === 0 && !publishing.audio;
  const words = watches || player === undefined ? null : peerWords(state);
  const on = publishing.cameras.length > 0;
  const cameras = on ? cameraNames(publishing.cameras) : [null];
  return (
    <>
      {cameras.map((camera, place) => (
        // By place: the first stays when a second comes.
        <li key={place} class="tile">
          <CameraView stream={streams[place] ?? null} label={pictureLabel(name, camera)} words={words} on={on}>
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
              <span class="name">{name}</span>
              {camera !== null && <span class="name quiet">{camera}</span>}
              {watches && <span class="quiet">watches</span>}
            </span>
            {place === 0 && <LinkBadge links={links} who={name} />}
          </div>
        </li>
      ))}
    </>
  );
}

interface SelfTileProps {
  readonly name: string;
  readonly stream: MediaStream | null;
  readonly cameraOn: boolean;
  readonly soundOn: boolean;
  readonly state: PeerState;
}

/** Ourselves, mirrored as in a mirror. */
export function SelfTile({ name, stream, cameraOn, soundOn, state }: SelfTileProps) {
  const words = stream === null ? null : state.kind === 'idle' ? null : peerWords(state);
  return (
    <li class="tile self">
      <Picture stream={cameraOn ? stream : null} label="Your own picture" muted mirrored />
      {!cameraOn && <Avatar name={name} />}
      {words !== null && <p class="veil light">{words}</p>}
      <div class="tile-foot">
        <span class="nameplate">
          {!soundOn && <Microphone off />}
          <span class="name">{name}</span>
          <span class="quiet">{stream === null ? 'you, watching' : 'you'}</span>
        </span>
      </div>
    </li>
  );
}

function Avatar({ name }: { readonly name: string }) {
  return (
    <div class="avatar" aria-hidden="true">
      <span>{initials(name)}</span>
    </div>
  );
}
