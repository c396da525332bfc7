// One camera's picture with what is to be said over it.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Camera } from '../model/types';
import { useFreeze } from './hooks';
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
}

export function CameraView({ stream, label, words, on, children }: CameraViewProps) {
  const [video, setVideo] = useState<HTMLVideoElement | null>(null);
  const standing = useFreeze(video, on ? stream : null);
  const stands = words === null && on && standing.frozen && standing.forMs >= TELL_MS;
  return (
    <>
      <Picture stream={stream} label={label} onElement={setVideo} />
      {children}
      {words !== null && <p class="veil">{words}</p>}
      {words === null && on && stream !== null && !standing.seen && <p class="veil">Waiting for the first picture…</p>}
      {stands && <p class="veil light">No new picture for {Math.floor(standing.forMs / 1000)} s</p>}
    </>
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
