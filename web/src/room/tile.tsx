import { useState } from 'preact/hooks';
import type { Participant } from '../model/types';
import { Store } from '../model/store';
import type { PeerState } from '../signal/peer';
import type { Player } from '../signal/whep';
import { initials } from '../view/format';
import { useFreeze, useStore } from '../view/hooks';
import { Microphone } from '../view/icons';
import { LinkBadge } from '../view/links';
import { peerWords, Picture } from '../view/parts';

/** A standing picture is told from this on, ms: shorter ones everybody sees and forgets. */
const TELL_MS = 1_000;

const noStream = new Store<MediaStream | null>(null);
const idle = new Store<PeerState>({ kind: 'idle' });

interface RemoteTileProps {
  readonly participant: Participant;
  readonly player: Player | undefined;
}

/** Somebody else. */
export function RemoteTile({ participant, player }: RemoteTileProps) {
  const { name, publishing, links } = participant;
  const stream = useStore(player?.stream ?? noStream);
  const state = useStore(player?.state ?? idle);
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  const standing = useFreeze(video, publishing.video ? stream : null);
  const watches = !publishing.video && !publishing.audio;
  const words = watches || player === undefined ? null : peerWords(state);
  const stands = words === null && publishing.video && standing.frozen && standing.forMs >= TELL_MS;
  return (
    <li class="tile">
      <Picture stream={stream} label={`Picture of ${name}`} onElement={setVideo} />
      {!publishing.video && <Avatar name={name} />}
      {words !== null && <p class="veil">{words}</p>}
      {words === null && publishing.video && stream !== null && !standing.seen && (
        <p class="veil">Waiting for the first picture…</p>
      )}
      {stands && <p class="veil light">No new picture for {Math.floor(standing.forMs / 1000)} s</p>}
      <div class="tile-foot">
        <span class="nameplate">
          {!publishing.audio && (
            <>
              <Microphone off />
              <span class="hidden-visually">Without sound: </span>
            </>
          )}
          <span class="name">{name}</span>
          {watches && <span class="quiet">watches</span>}
        </span>
        <LinkBadge links={links} who={name} />
      </div>
    </li>
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
