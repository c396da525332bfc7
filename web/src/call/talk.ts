// Our own microphone and camera towards the sender of `weft call`. Both are off at first,
// so opening the page sends nothing.

import { useEffect, useRef, useState } from 'preact/hooks';
import { captureOne, unplugged, type Kind } from '../media/devices';
import type { Problem } from '../model/problem';
import { useChoice, type Choice } from '../room/media';
import type { Player } from '../signal/whep';

/** The picture is shown small, and the path to the vehicle often includes a mobile link. Chosen by
 *  us. */
const CAMERA: MediaTrackConstraints = { width: { ideal: 640 }, height: { ideal: 360 }, frameRate: { ideal: 15, max: 15 } };

export interface Talk {
  readonly soundOn: boolean;
  readonly cameraOn: boolean;
  readonly toggleSound: () => void;
  readonly toggleCamera: () => void;
  /** Our own picture; null while the camera is off. */
  readonly preview: MediaStream | null;
  /** Open devices; null without any. */
  readonly stream: MediaStream | null;
  readonly cameras: Choice;
  readonly microphones: Choice;
  readonly problem: Problem | null;
  /** Retries what failed. */
  readonly again: () => void;
  readonly dismiss: () => void;
}

export function useTalk(player: Player): Talk {
  const [soundOn, setSoundOn] = useState(false);
  const [preview, setPreview] = useState<MediaStream | null>(null);
  const [failed, setFailed] = useState<{ readonly kind: Kind; readonly problem: Problem } | null>(null);
  const tracks = useRef<Partial<Record<Kind, MediaStreamTrack>>>({});
  /** Kinds that we want to send. */
  const wanted = useRef<Partial<Record<Kind, boolean>>>({});
  /** Last request for a device. The next one waits for it, so that none is lost. */
  const last = useRef(Promise.resolve());
  const [stream, setStream] = useState<MediaStream | null>(null);
  const [cameras, microphones] = [useChoice('video', stream), useChoice('audio', stream)];

  useEffect(() => () => Object.values(tracks.current).forEach((track) => track.stop()), []);

  const choiceOf = (kind: Kind): typeof cameras => (kind === 'audio' ? microphones : cameras);

  const show = (kind: Kind, track: MediaStreamTrack | null): void => {
    if (kind === 'audio') setSoundOn(track !== null);
    else setPreview(track === null ? null : new MediaStream([track]));
    void player.send(kind, track);
    const open = Object.values(tracks.current).filter(({ readyState }) => readyState === 'live');
    setStream(open.length === 0 ? null : new MediaStream(open));
  };

  const capture = async (kind: Kind, device: string | null): Promise<MediaStreamTrack | null> => {
    const captured = await captureOne(navigator.mediaDevices, kind, device);
    if (!(captured instanceof MediaStreamTrack)) {
      setFailed({ kind, problem: captured });
      wanted.current[kind] = false;
      return null;
    }
    // A camera that does not support this sends larger pictures.
    if (kind === 'video') await captured.applyConstraints(CAMERA).catch(() => undefined);
    // Our own `stop` causes no such event.
    captured.addEventListener('ended', () => {
      setFailed({ kind, problem: unplugged(kind) });
      turnOff(kind);
    });
    tracks.current[kind] = captured;
    return captured;
  };

  const turnOn = (kind: Kind, device: string | null): void => {
    wanted.current[kind] = true;
    last.current = last.current.then(async () => {
      setFailed(null);
      const before = tracks.current[kind];
      const fits = before?.readyState === 'live' && (device === null || before.getSettings().deviceId === device);
      // Stops the old one before requesting the new one, because some systems open a
      // device only once.
      if (!fits) before?.stop();
      const track = fits ? before : await capture(kind, device);
      show(kind, wanted.current[kind] === true ? track : null);
    });
  };

  const turnOff = (kind: Kind): void => {
    wanted.current[kind] = false;
    show(kind, null);
  };

  const choose = (kind: Kind, device: string): void => {
    choiceOf(kind).keep(device);
    if (wanted.current[kind] === true) return turnOn(kind, device);
    tracks.current[kind]?.stop();
    turnOff(kind);
  };

  return {
    soundOn,
    cameraOn: preview !== null,
    // The muted microphone stays open, because some browsers would ask for it each time.
    toggleSound: () => (soundOn ? turnOff('audio') : turnOn('audio', microphones.chosen)),
    toggleCamera: () => {
      if (preview === null) return turnOn('video', cameras.chosen);
      // Stopped, so that the camera's light goes out.
      tracks.current.video?.stop();
      turnOff('video');
    },
    preview,
    stream,
    cameras: { ...cameras, choose: (device) => choose('video', device) },
    microphones: { ...microphones, choose: (device) => choose('audio', device) },
    problem: failed?.problem ?? null,
    again: () => failed !== null && turnOn(failed.kind, choiceOf(failed.kind).chosen),
    dismiss: () => setFailed(null),
  };
}
