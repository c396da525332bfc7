// Our own microphone and camera towards the sender of `weft call`. Both are off at first:
// opening the page puts nobody on the air.

import { useEffect, useRef, useState } from 'preact/hooks';
import { captureOne, unplugged, type Kind } from '../media/devices';
import type { Problem } from '../model/problem';
import type { Player } from '../signal/whep';

/** The picture is shown small, and the way to the vehicle is often a mobile link. Chosen by us. */
const CAMERA: MediaTrackConstraints = { width: { ideal: 640 }, height: { ideal: 360 }, frameRate: { ideal: 15, max: 15 } };

export interface Talk {
  readonly soundOn: boolean;
  readonly cameraOn: boolean;
  readonly toggleSound: () => void;
  readonly toggleCamera: () => void;
  /** Our own picture; null while the camera is off. */
  readonly preview: MediaStream | null;
  readonly problem: Problem | null;
  /** Tries again what failed. */
  readonly again: () => void;
  readonly dismiss: () => void;
}

export function useTalk(player: Player): Talk {
  const [soundOn, setSoundOn] = useState(false);
  const [preview, setPreview] = useState<MediaStream | null>(null);
  const [failed, setFailed] = useState<{ readonly kind: Kind; readonly problem: Problem } | null>(null);
  const tracks = useRef<Partial<Record<Kind, MediaStreamTrack>>>({});
  const asking = useRef(false);

  useEffect(() => () => Object.values(tracks.current).forEach((track) => track.stop()), []);

  const show = (kind: Kind, track: MediaStreamTrack | null): void => {
    if (kind === 'audio') setSoundOn(track !== null);
    else setPreview(track === null ? null : new MediaStream([track]));
    void player.send(kind, track);
  };

  const capture = async (kind: Kind): Promise<MediaStreamTrack | null> => {
    const captured = await captureOne(navigator.mediaDevices, kind, null);
    if (!(captured instanceof MediaStreamTrack)) {
      setFailed({ kind, problem: captured });
      return null;
    }
    // A camera that cannot do it sends larger pictures.
    if (kind === 'video') await captured.applyConstraints(CAMERA).catch(() => undefined);
    // Our own `stop` causes no such event.
    captured.addEventListener('ended', () => {
      setFailed({ kind, problem: unplugged(kind) });
      show(kind, null);
    });
    tracks.current[kind] = captured;
    return captured;
  };

  const turnOn = async (kind: Kind): Promise<void> => {
    if (asking.current) return;
    asking.current = true;
    setFailed(null);
    const before = tracks.current[kind];
    const track = before?.readyState === 'live' ? before : await capture(kind);
    asking.current = false;
    if (track !== null) show(kind, track);
  };

  return {
    soundOn,
    cameraOn: preview !== null,
    // The muted microphone stays open: some browsers would ask for it each time.
    toggleSound: () => (soundOn ? show('audio', null) : void turnOn('audio')),
    toggleCamera: () => {
      if (preview === null) return void turnOn('video');
      // Stopped, so that the camera's light goes out.
      tracks.current.video?.stop();
      show('video', null);
    },
    preview,
    problem: failed?.problem ?? null,
    again: () => failed !== null && void turnOn(failed.kind),
    dismiss: () => setFailed(null),
  };
}
