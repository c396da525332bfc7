// One camera's picture with what is to be said over it.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Camera } from '../model/types';
import { useFreeze } from './hooks';
import { FullScreen, Pin, PictureInPicture } from './icons';
import { Picture } from './parts';

/** A standing picture is told from this on, ms: shorter ones everybody sees and forgets. */
const TELL_MS = 1_000;

interface CameraViewProps {
  readonly stream: MediaStream | null;
  readonly label: string;
  /** What stands in the way of a picture; null if nothing does. */
  readonly words: string | null;
  /** Whether there is to be one. */
  readonly on: boolean;
  /** In place of the picture when it is off. */
  readonly children?: ComponentChildren;
  /** Pins its tile, or lets it go; without, there is nothing to choose. */
  readonly pin?: { readonly pinned: boolean; readonly toggle: () => void } | undefined;
}

export function CameraView({ stream, label, words, on, children, pin }: CameraViewProps) {
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  const standing = useFreeze(video, on ? stream : null);
  const stands = words === null && on && standing.frozen && standing.forMs >= TELL_MS;
  return (
    <>
      <Picture stream={stream} label={label} onElement={setVideo} />
      {children}
      {words !== null && <p class="veil">{words}</p>}
      {words === null && on && stream !== null && !standing.seen && <p class="veil">Waiting for the first picture…</p>}
      <Tools video={video} of={label} picture={on && stream !== null} pin={pin} />
      {stands && <p class="veil light">No new picture for {Math.floor(standing.forMs / 1000)} s</p>}
    </>
  );
}

interface ToolsProps {
  readonly video: HTMLVideoElement | null;
  readonly of: string;
  /** Whether there is one to enlarge. */
  readonly picture: boolean;
  readonly pin: CameraViewProps['pin'];
}

/** What one can do with somebody's picture. */
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

/** What each camera is called; nothing where there is one without a name. */
export function cameraNames(cameras: readonly Camera[]): (string | null)[] {
  const several = cameras.length > 1;
  return cameras.map(({ name }, place) => name ?? (several ? `camera ${place + 1}` : null));
}

/** A picture's name for those who do not see it. */
export function pictureLabel(who: string, camera: string | null): string {
  return camera === null ? `Picture of ${who}` : `Picture of ${who}: ${camera}`;
}
