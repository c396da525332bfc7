// Picture of one camera with its overlay.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Camera } from '../model/types';
import { useFreeze } from './hooks';
import { FullScreen, Pin, PictureInPicture } from './icons';
import { Picture } from './parts';

/** Duration of a freeze after which it is shown, ms; shorter ones need no comment. */
const TELL_MS = 1_000;

interface CameraViewProps {
  readonly stream: MediaStream | null;
  /** Whether the stream has sound now. */
  readonly sounds?: boolean;
  /** Source of the picture, a new object whenever it is another person's; null while none
   *  arrives. */
  readonly source: object | null;
  readonly label: string;
  /** Reason why there is no picture; null if there is one. */
  readonly words: string | null;
  /** Whether a picture is expected. */
  readonly on: boolean;
  /** Content in place of the picture when it is off. */
  readonly children?: ComponentChildren;
  /** Pins or unpins its tile; missing if there is nothing to choose. */
  readonly pin?: { readonly pinned: boolean; readonly toggle: () => void } | undefined;
}

export function CameraView({ stream, sounds = false, source, label, words, on, children, pin }: CameraViewProps) {
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  const standing = useFreeze(video, on ? source : null);
  const frozen = words === null && on && standing.frozen && standing.forMs >= TELL_MS;
  // Before the first picture, the element may still show another person's.
  const text = words ?? (on && stream !== null && !standing.seen ? 'Waiting for the first picture…' : null);
  return (
    <>
      <Picture stream={stream} sounds={sounds} label={label} onElement={setVideo} />
      {children}
      {text !== null && <p class={on && !standing.seen ? 'veil solid' : 'veil'}>{text}</p>}
      <Tools video={video} of={label} picture={on && stream !== null} pin={pin} />
      {frozen && <p class="veil light">No new picture for {Math.floor(standing.forMs / 1000)} s</p>}
    </>
  );
}

interface ToolsProps {
  readonly video: HTMLVideoElement | null;
  readonly of: string;
  /** Whether there is a picture to enlarge. */
  readonly picture: boolean;
  readonly pin: CameraViewProps['pin'];
}

/** Actions on a participant's picture. */
function Tools({ video, of, picture, pin }: ToolsProps) {
  const enlarge = (): void => {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    else void video?.closest('.tile')?.requestFullscreen().catch(() => undefined);
  };
  const pop = (): void => {
    if (document.pictureInPictureElement === video) void document.exitPictureInPicture();
    else void video?.requestPictureInPicture().catch(() => undefined);
  };
  return (
    <div class="tools">
      {pin !== undefined && (
        <Tool label={`${pin.pinned ? 'Unpin' : 'Pin'}: ${of}`} pressed={pin.pinned} run={pin.toggle}>
          <Pin />
        </Tool>
      )}
      {picture && document.pictureInPictureEnabled && (
        <Tool label={`Picture in picture: ${of}`} run={pop}>
          <PictureInPicture />
        </Tool>
      )}
      {picture && document.fullscreenEnabled && (
        <Tool label={`Full screen: ${of}`} run={enlarge}>
          <FullScreen />
        </Tool>
      )}
    </div>
  );
}

interface ToolProps {
  readonly label: string;
  readonly pressed?: boolean;
  readonly run: () => void;
  readonly children: ComponentChildren;
}

function Tool({ label, pressed, run, children }: ToolProps) {
  return (
    <button type="button" class="tool" aria-label={label} aria-pressed={pressed} title={label.split(':')[0]} onClick={run}>
      {children}
    </button>
  );
}

/** Captions of the cameras; null for a single unnamed one. */
export function cameraNames(cameras: readonly Camera[]): (string | null)[] {
  const several = cameras.filter(({ screen }) => !screen).length > 1;
  return cameras.map(({ name, screen }, place) => name ?? (screen ? 'screen' : several ? `camera ${place + 1}` : null));
}

/** Accessible name of a picture. */
export function pictureLabel(who: string, camera: string | null): string {
  return camera === null ? `Picture of ${who}` : `Picture of ${who}: ${camera}`;
}
